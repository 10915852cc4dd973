"""Signs that somebody means a text for the assistant's eyes and not for the owner's, or the other way about.

They prove nothing and change nothing: an answer says that they are there, in fixed words with a count, and quotes
nothing, so that a note can neither speak in our voice nor be kept from the owner by a false alarm. What is hidden
for certain is the business of `service.guards.outgoing`. Each sign is looked for with a bounded pattern, in time linear
in the text; a cheap look for what it needs comes first. Source: docs/explanation/guards.md, signs that only warn.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

MAX_LOOKED_AT: Final = 1_000_000
"""Characters of a text that are looked at; a longer one is looked at from its beginning."""

MIN_BLANK_LINES: Final = 40
MIN_BLANKS: Final = 200
MIN_LABEL_CHARS: Final = 121
MIN_OWN_LABEL_CHARS: Final = 201
"""Documentation describes its pictures at length (1 in 33 notes of a large public collection has more than 120 characters)."""
MIN_ENCODED_CHARS: Final = 201
MIN_QUERY_CHARS: Final = 101
MIN_INVISIBLE: Final = 20
INVISIBLE_SHARE: Final = 0.05


class Sign(enum.Enum):
    """What was seen: the words for one, and for several."""

    ORDER = ("phrase that gives orders to an assistant", "phrases that give orders to an assistant")
    TOOL = ("name of a tool of this server", "names of tools of this server")
    FAR_AWAY = ("stretch of text behind a very large gap", "stretches of text behind very large gaps")
    LABEL = ("very long image or attribute text", "very long image or attribute texts")
    MIXED = ("word that mixes look-alike alphabets", "words that mix look-alike alphabets")
    ENCODED = ("long run of encoded text", "long runs of encoded text")
    BRAILLE = ("run of Braille", "runs of Braille")
    PHANTOM = ("formula that is laid out and not drawn", "formulas that are laid out and not drawn")
    PALE = ("piece of white or tiny text", "pieces of white or tiny text")
    INVISIBLE = ("unusually large share of invisible characters", "unusually large share of invisible characters")
    LONG_QUERY = (
        "link with a long query, which tells its host what stands in it when somebody opens it",
        "links with long queries, which tell their hosts what stands in them when somebody opens them",
    )


_WHOM: Final = r"(?:the )?(?:user|owner|human)\b"
_WHAT: Final = r"(?:instruct|prompt|message|rule|direction|guideline|conversation|context|order|command|text)"
_PREVIOUS: Final = r"(?:previous|prior|above|earlier|preceding|foregoing|other)"
_DROP: Final = rf"\s{{1,4}}(?:\w+\s{{1,4}}){{0,3}}{_PREVIOUS}\s{{1,4}}(?:\w+\s{{1,4}}){{0,2}}{_WHAT}"
_READERS: Final = ("ai", "llm", "assistant", "agent", "chatbot", "language model")
_READER: Final = rf"(?:{'|'.join(_READERS)})s?\b"
_A_READER: Final = rf"(?:\w{{1,20}} )?{_READER}"
_TO_A_READER: Final = rf"(?:the |any |all )?{_A_READER}"
_ORDERS: Final[Sequence[tuple[str, re.Pattern[str]]]] = tuple(
    (word, re.compile(pattern))
    for word, pattern in (
        ("ignore", rf"\bignore{_DROP}|\bignore (?:everything|all|anything) (?:above|before|so far)"),
        ("disregard", rf"\bdisregard{_DROP}|\bdisregard (?:everything|all|anything) (?:above|before|so far)"),
        ("forget", rf"\bforget{_DROP}|\bforget (?:everything|all|anything) (?:above|before|so far)"),
        ("override", rf"\boverride{_DROP}"),
        (" prompt", r"\b(?:system|developer) prompt\b"),
        ("<|", r"<\|(?:im_start|im_end|system|endoftext)"),
        ("inst]", r"\[/?inst\]"),
        ("sys>>", r"<</?sys>>"),
        *(
            (verb, rf"{verb}(?:(?<=do not {verb})|(?<=don't {verb})|(?<=never {verb})) {_WHOM}")
            for verb in ("tell", "inform", "alert", "notify", "warn", "mention this to", "mention it to")
        ),
        *((verb, rf"{verb}(?<=without {verb}) {_WHOM}") for verb in ("telling", "informing", "notifying", "asking")),
        ("instruction", r"\b(?:new|updated|real|actual) instructions?\s?:"),
        ("instruction", rf"instructions? (?:for|to) {_TO_A_READER}"),
        ("you are ", rf"you are (?:now )?(?:an? |the )?{_A_READER}"),
        ("dear ", rf"dear {_TO_A_READER}"),
        ("attention", rf"attention,? {_TO_A_READER}"),
        ("note to ", rf"note to {_TO_A_READER}"),
        *(
            (word, rf"{word}(?<!\w{word})(?<!user {word})s?(?:,? (?:you )?must\b|,? you should\b|[,:] please\b)")
            for word in _READERS
        ),
        ("ignorier", r"\bignorier\w{0,3} (?:\w+ ){0,3}(?:vorherigen|bisherigen|obigen|vorigen)\b"),
        (" les ", r"\b(?:ignorer?|ignorez|oublier?|oubliez) (?:toutes )?les (?:\w+ )?(?:instructions|consignes)\b"),
        (" las ", r"\b(?:ignora|ignore|olvida) (?:todas )?las (?:\w+ )?instrucciones\b"),
        ("忽略", r"忽略\S{0,8}(?:指令|指示|提示)"),
        ("无视", r"无视\S{0,8}(?:指令|指示|提示)"),
        ("игнорируй", r"игнорируй\w{0,4} (?:\w+ ){0,2}инструкци"),
    )
)
"""Phrases in lower case, each behind a word without which it cannot be there."""
_BLANK: Final = re.compile(r"\s+")
_TWO_BLANK: Final = re.compile(r"\s(?=\s)")
_GAP_STEP: Final = 20
_ALT: Final = re.compile(rf"!\[([^\[\]\n]{{{MIN_LABEL_CHARS},4000}})\]")
_ATTRIBUTE: Final = re.compile(
    rf"=\s{{0,2}}(?:\"([^\"\n]{{{MIN_LABEL_CHARS},4000}})\"|'([^'\n]{{{MIN_LABEL_CHARS},4000}})')"
)
_LABELLING: Final = re.compile(
    r"(?i:\b(?:alt|title|summary|label|placeholder|aria-[a-z]{1,20}|data-[a-z-]{1,30}))\s{0,2}$"
)
_LOOK_ALIKES: Final = (
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd\u03f3"
    "\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u04bb\u0501\u051b\u051d"
)
"""Greek and Cyrillic letters that are drawn like Latin ones; not those that formulas put beside Latin letters (Δx, λf)."""
_MIXED: Final = re.compile(rf"[{_LOOK_ALIKES}](?:(?=[A-Za-z])|(?<=[A-Za-z].))\w{{0,100}}")
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/=_-]+")
_MIN_DISTINCT: Final = 10  # letters; fewer are a line that was drawn
_MIN_DIGITS: Final = 0.05  # of a run; fewer are a long name
_MIN_SPACES: Final = 5  # of a label; fewer are an address
_IMAGE_DATA: Final = re.compile(r"data:image/[a-z.+-]{2,20};base64,$")
_BRAILLE: Final = re.compile(r"[\u2801-\u28ff][\u2800-\u28ff]{6,}")
_PHANTOM: Final = re.compile(r"\\(?:[hv]?phantom\b|(?:text)?color\s{0,2}\{\s{0,2}white\s{0,2}\})")
_PALE: Final = re.compile(
    r"<[a-z][^<>]{0,400}?(?:(?<![\w-])color\s{0,2}[:=]\s{0,2}[\"']?(?:white\b|#fff(?:fff)?\b|rgb\(\s?255[, ]+255[, ]+255)"
    r"|font-size\s{0,2}:\s{0,2}(?:[0-5](?:\.\d{1,4})?|\.\d{1,4})px)",
    re.IGNORECASE,
)
_QUERY: Final = re.compile(rf"https?://[^\s<>\"?#]{{1,500}}\?[^\s<>\"')\]]{{{MIN_QUERY_CHARS},}}", re.IGNORECASE)


def in_note(shown: str, *, invisible: int, size: int, is_low_trust: bool, tools: Sequence[str] = ()) -> dict[Sign, int]:
    """The signs in what is shown of a note that is read.

    Args:
        invisible: how many invisible characters were left out of it, of `size` in all.
        is_low_trust: orders and tools' names mean nothing in the owner's own notes, and are looked for in others only.
        tools: the names of this server's tools.
    """
    text = shown[:MAX_LOOKED_AT]
    found = {
        Sign.FAR_AWAY: _gaps(text),
        Sign.LABEL: _labels(text, MIN_LABEL_CHARS if is_low_trust else MIN_OWN_LABEL_CHARS),
        Sign.ENCODED: sum(1 for _ in _encoded(text)),
        Sign.PHANTOM: _count(_PHANTOM, text, "phantom", "color"),
        Sign.PALE: _count(_PALE, text, "color", "font-size", "COLOR", "FONT-SIZE") if "<" in text else 0,
        Sign.INVISIBLE: int(invisible >= MIN_INVISIBLE and invisible > INVISIBLE_SHARE * size),
    }
    if not text.isascii():
        found |= {Sign.MIXED: _count(_MIXED, text), Sign.BRAILLE: _count(_BRAILLE, text)}
    if is_low_trust:
        found |= {Sign.ORDER: _orders(text.lower()), Sign.TOOL: _tools(text, tools)}
    return {sign: count for sign, count in found.items() if count}


def in_written(text: str) -> dict[Sign, int]:
    """The signs in text that an assistant writes. What it hides or makes run is the input guard's business."""
    text = text[:MAX_LOOKED_AT]
    count = _count(_QUERY, text, "?")
    return {Sign.LONG_QUERY: count} if count else {}


def told(found: Mapping[Sign, int]) -> str:
    """The signs in words, in the order of `Sign`, such as `1 run of Braille, 2 long runs of encoded text`."""
    counted = ((sign, found[sign]) for sign in Sign if sign in found)
    return ", ".join(
        sign.value[0] if sign is Sign.INVISIBLE else f"{count} {sign.value[count != 1]}" for sign, count in counted
    )


def _count(pattern: re.Pattern[str], text: str, *needed: str) -> int:
    if needed and not any(word in text for word in needed):
        return 0
    return sum(1 for _ in pattern.finditer(text))


def _orders(lower: str) -> int:
    return sum(_count(pattern, lower) for word, pattern in _ORDERS if word in lower)


def _gaps(text: str) -> int:
    """How often text comes after forty blank lines, or after two hundred blanks in its line; padded tables apart."""
    found = done = 0
    for sample in _TWO_BLANK.finditer(text[::_GAP_STEP]):  # where forty characters are blank, two of these are
        at = sample.start() * _GAP_STEP
        gap = _BLANK.match(text, at) if at >= done else None
        if gap is None or gap.end() - at < _GAP_STEP:
            continue
        start, done = at, gap.end()
        while start > 0 and text[start - 1].isspace():
            start -= 1
        blank_lines = text.count("\n", start, done) - 1
        indent = done - max(text.rfind("\n", start, done) + 1, start)
        is_far = blank_lines >= MIN_BLANK_LINES or (indent >= MIN_BLANKS and text[done : done + 1] != "|")
        found += is_far and done < len(text)
    return found


def _labels(text: str, min_chars: int) -> int:
    alts = _ALT.finditer(text) if "![" in text else iter(())
    attributes = (
        one for one in _ATTRIBUTE.finditer(text) if _LABELLING.search(text, max(0, one.start() - 40), one.start())
    )
    labels = (found[found.lastindex or 0] for found in (*alts, *attributes))
    return sum(len(label) >= min_chars and label.count(" ") >= _MIN_SPACES for label in labels)


def _encoded(text: str) -> Iterator[str]:
    """Long runs of the letters of base64 and hexadecimal, without embedded images, drawn lines and long names.

    Such a run holds a place whose number is a hundredfold and from which it goes on for a hundred more, so that few
    places need a look.
    """
    step, done = MIN_ENCODED_CHARS // 2, 0
    for at in range(0, len(text), step):
        if at < done:
            continue
        run = _ENCODED.match(text, at)
        if run is None or run.end() - at < step:
            continue
        done, start = run.end(), at
        while start > 0 and _ENCODED.match(text, start - 1, start):
            start -= 1
        found = text[start:done]
        digits = sum(map(found.count, "0123456789"))
        is_code = len(set(found[:1000])) >= _MIN_DISTINCT and digits >= _MIN_DIGITS * len(found)
        if len(found) >= MIN_ENCODED_CHARS and is_code and not _IMAGE_DATA.search(text, max(0, start - 60), start):
            yield found


def _tools(text: str, tools: Sequence[str]) -> int:
    """Names of two words and more; a tool that is called `search` is called like anything."""
    telling = [name for name in tools if "_" in name and name in text]
    return sum(1 for _ in re.finditer(rf"\b(?:{'|'.join(map(re.escape, telling))})\b", text)) if telling else 0
