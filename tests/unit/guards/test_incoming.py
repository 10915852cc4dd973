"""The input guard on whole texts: the vectors, what is new against what was there, folders where things may run."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from service.errors import UnsafeContent
from service.guards import active, incoming
from service.guards.incoming import Incoming, guard
from service.vault import changes
from tests.support.vectors import Case, cases

CASES = cases("in", "guard_cases", "guard_incoming_cases")


def written(text: str) -> Incoming:
    """A new note of this text."""
    return guard("", text, [(0, len(text))])


def edited(before: str, old: str, new: str) -> Incoming:
    """A note in which `old`, which stands there once, is replaced."""
    assert before.count(old) == 1
    after = before.replace(old, new)
    changed = changes.between(before, after)
    return guard(before, after, changed, wrote=changes.words_of(after, [new], changed))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_vector_comes_out_as_expected(case: Case) -> None:
    """guards.md 6, 53: rules of 4.4 as language-neutral vectors."""
    assert written(case.input).text == case.expected


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_was_made_harmless_stays_as_it_is_the_second_time(case: Case) -> None:
    """guards.md 6, 53: idempotent."""
    again = written(case.expected)
    assert (again.text, dict(again.counts)) == (case.expected, {})


@pytest.mark.parametrize("case", [case for case in CASES if case.is_attack], ids=str)
def test_the_answer_says_by_kind_what_was_changed_and_quotes_nothing(case: Case) -> None:
    """Issue 3: counts, never the text."""
    notice = written(case.input).notice
    assert notice
    assert "evil" not in notice
    assert notice.split()[0].isdigit()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_appended_vectors_come_out_as_in_a_note_of_their_own(case: Case) -> None:
    """guards.md 4.4: in model-written text, and only there."""
    if case.input.startswith("---"):  # front matter is such at the top only
        return
    before = (
        "# The owner's note\n\n![mine](https://mine.example/x.png)\n\n<iframe src=https://mine.example></iframe>\n\n"
    )
    after = before + case.input
    assert guard(before, after, [(len(before), len(after))]).text == before + case.expected


# ---- what is new, and what was there ---------------------------------------------------------------------------------

OWNERS = (
    "![mine](https://mine.example/x.png) [go](javascript:x)\n\n<iframe src=https://mine.example></iframe>\n\n"
    "```dataviewjs\ndv.x\n```\n\n`$= dv.y` <% tp.z %>\n\n![r]\n\n[r]: https://mine.example/r.png\n"
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# top\n", "# Another top\n\nwith more lines\n"),
        ("# top\n", ""),
        ("end\n", "end ![local](a.png) and [a link](https://ok.example)\n"),
        ("# top\n", "# top\n" + "line\n" * 50),
    ],
)
def test_what_the_owner_had_is_not_touched_by_an_edit_elsewhere(old: str, new: str) -> None:
    """Whole-document rule: also when it moves to other lines."""
    before = f"# top\n{OWNERS}\nend\n"
    assert edited(before, old, new).text == before.replace(old, new)


def test_the_owners_active_text_may_be_moved_and_rewritten_around() -> None:
    """Whole-document rule: as many as there were, wherever they stand."""
    before = f"first\n\n{OWNERS}"
    assert edited(before, before, f"{OWNERS}\nlast\n").text == f"{OWNERS}\nlast\n"


def test_another_one_of_what_the_owner_has_is_new() -> None:
    """Whole-document rule: compared as multisets."""
    before = f"{OWNERS}\nend\n"
    copied = edited(before, "end", "![again](https://mine.example/x.png)")
    assert copied.text == before.replace("end", "[again](https://mine.example/x.png)")


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        ("see [a](https://x.example)\n", "see ", "see !"),
        ("see [a](https://x.example)\n", "see", "look! !"[:5] + "!"),
        ("```dataview\nLIST\n```\n", "dataview", "dataviewjs"),
        ("```dataview\nLIST\n```\n", "```dataview\n", "```dataviewjs\n"),
        ("```tasks\nnot done\n```\n", "not done", "filter by function x"),
        ("```js\nx\n```\n", "js", "run-js"),
        ("![a][r]\n\nend\n", "end", "[r]: https://x.example/a.png"),
        ("![a][r]\n\n[r]: a.png\n", "a.png", "//x.example/a.png"),
        ("[a][r]\n\n[r]: a.md\n", "a.md", "javascript:x"),
        ("top\n\n```\n![a](https://x.example)\n```\n", "top", "```\n"),
        ("```\n![a](https://x.example)\n```\n", "```\n!", "!"),
        ("    ![a](https://x.example)\n", "    ", ""),
        ("`![a](https://x.example)`\n", "`!", "!"),
        ("top\n<!-- <iframe src=x> -->\n", "top", "<!-- a\n-->"[:5] + "x --> -->"),
        ("<!--\n\n![a](https://x.example)\n\n-->\n", "<!--\n", "<!-- -->\n"),
        ("img src=https://x.example>\n", "img", "<img"),
        ("% tp.x %>\n", "% tp", "<% tp"),
        ("< tp.x %>\n", "< tp", "<% tp"),
        ("\\[a](javascript:x)\n", "\\[", "["),
        ("`$ = dv.x`\n", "$ =", "$="),
        ("<div>\n&lt;svg onload=x>\n</div>\n", "&lt;", "<"),
        ("[a](https://x.example)\n", "[a]", "![a]"),
        ("![a](a.png)\n", "a.png", "https://x.example/a.png"),
        ("<style>\na{}\n</style>\n", "a{}", "a{background:url(https://x.example)}"),
        ("```dataviewjs\na\n```\n", "a\n", "b\n"),
        ("<svg>\n</svg>\n", "</svg>", "<set></svg>"[:5] + "></svg>"),
    ],
)
def test_a_fragment_brings_no_old_text_to_life(before: str, old: str, new: str) -> None:
    """guards.md 6, 56: either the change is refused, or nothing is active that was not."""
    was = [(one.kind, one.key) for one in active.find(before)]
    try:
        after = edited(before, old, new).text
    except UnsafeContent:
        return
    assert [(one.kind, one.key) for one in active.find(after) if (one.kind, one.key) not in was] == []


@pytest.mark.parametrize(
    ("before", "old", "new", "words"),
    [
        ("one\n\nsee [a](https://x.example)\n", "see ", "see !", "image that is loaded from elsewhere (line 3 "),
        ("```dataview\nLIST\n```\n", "dataview", "dataviewjs", "code that runs"),
        ("![a][r]\n\nend\n", "end", "[r]: https://x.example/a.png", "image that is loaded from elsewhere (line 1 "),
        ("top\n\n```\n<iframe src=x>\n```\n", "top\n", "top\n```\n", "HTML that loads or runs something"),
        ("< tp.x %>\n", " tp", "% tp", "template command"),
        ("secret \\<script>\n", "\\", "", "HTML that loads or runs something"),
        ("secret \\<script>\n", "\\", "\\\\", "HTML that loads or runs something"),
        ("`$ = dv.secret`\n", "$ =", "$=", "script that runs"),
        ("[secret][r]\n\n[r]: a.md\n", "a.md", "javascript:x", "link to an address that may do something"),
    ],
)
def test_a_refusal_names_kind_and_line_and_no_word_of_the_note(before: str, old: str, new: str, words: str) -> None:
    """Errors hold no note text (style.md)."""
    with pytest.raises(UnsafeContent) as refusal:
        edited(before, old, new)
    assert words in str(refusal.value)
    assert "secret" not in str(refusal.value)
    assert "Nothing was changed." in str(refusal.value)
    assert refusal.value.code == "UNSAFE_CONTENT"


def test_a_change_that_would_be_undone_whole_is_refused() -> None:
    """An answer that says "done" for nothing would be believed."""
    with pytest.raises(UnsafeContent):
        edited("[a](https://x.example)\n", "[a](https://x.example)", "![a](https://x.example)")


def test_a_link_put_behind_the_owners_exclamation_mark_does_not_become_an_image() -> None:
    """Assembly: the ! is the owner's, so it is kept from the link by a backslash."""
    assert edited("Wow! end\n", " end", "![a](https://x.example)").text == "Wow!\\![a](https://x.example)\n"


def test_the_owners_definition_of_a_bad_address_gets_no_new_use() -> None:
    """Each half of a full reference could be a link by itself."""
    before = "[old][r]\n\n[r]: javascript:x\n\nend\n"
    assert edited(before, "end", "[new][r]").text == before.replace("end", "\\[new]\\[r]")


def test_bytes_outside_what_was_written_stay() -> None:
    """Issue 3: owner's own text never touched, invisible characters of theirs included."""
    before = "a\u200bb\r\n![x](https://mine.example)\r\n\u202eend\r\n"
    after = edited(before, "end", "end ![y](https://x.example)\u200b").text
    assert after == before.replace("end", "end [y](https://x.example)")


# ---- settings, notices, warnings -------------------------------------------------------------------------------------


def test_where_things_may_run_only_invisible_characters_go() -> None:
    """STRONGROOM_ALLOW_ACTIVE."""
    text = "<%* x %> ![a](https://x.example)\u200b\n```dataviewjs\nx\n```\n"
    allowed = guard("", text, [(0, len(text))], may_be_active=True)
    assert allowed.text == text.replace("\u200b", "")
    assert allowed.notice == "1 invisible character was left out."


def test_a_notice_counts_each_kind() -> None:
    """Fixed sentences with counts."""
    text = "![a](https://x.example) ![b](https://y.example)\n\n```dataviewjs\nx\n```\n\n`$= x` <% y %> [c](javascript:z) <iframe>\n"
    assert written(text).notice == (
        "2 remote images were made links. 1 HTML tag that would load or run something was made plain text. "
        "1 link to an address that may do something was made plain text. 1 code block that would run was made plain text. "
        "1 script in a line was made plain code. 1 template command was made plain text."
    )


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        ("a <!-- b --> c\n", "1 HTML comment was written; reading the note does not show comments again."),
        (
            "<!-- b -->\n\n<!--\nc\n-->\n",
            "2 HTML comments were written; reading the note does not show comments again.",
        ),
        ("`<!-- b -->`\n", ""),
        (
            "---\ncover: https://x.example/a\n---\n",
            "1 property names a picture from elsewhere, which some views of Obsidian load.",
        ),
        (
            "---\nbanner: \"![[x]]\"\nimages:\n  - //x.example/a\n  - 'https://x.example/b.png'\nsource: https://x.example\n---\n",
            "2 properties name a picture from elsewhere, which some views of Obsidian load.",
        ),
        ("---\ncover: a.png\nurl: https://x.example/page\n---\n", ""),
    ],
)
def test_what_is_let_through_and_may_surprise_is_said(text: str, notice: str) -> None:
    """guards.md 4.4: allowed, with a word about it."""
    assert (written(text).text, written(text).notice) == (text, notice)


def test_the_owners_comments_and_covers_are_not_mentioned() -> None:
    """Only what is new."""
    before = "---\ncover: https://x.example/a.png\n---\n<!-- b -->\n\nend\n"
    assert edited(before, "end", "the end").notice == ""


# ---- bounds ----------------------------------------------------------------------------------------------------------

LONG_CHARS = 1_000_000
SHORT_CHARS = 200_000
PATHOLOGICAL = [
    "![", "[", "](", "![a](", "![a](https://x.example) ", "<", "<a ", "<a b=", "<img src=", "<!--", "`", "`` ", "<% ", "$=", "`$=` ",
    "[a]: ", "[a][b] ",
    "> ", "- ", "```dataviewjs\n", "\\", "&#", "<https:", "![[", "<div>", "|", "|`", "\u200b", "a\u200b", "*_", "![a][b]\n\n[b]: https://x.example\n\n",
    "<b>", "<a href='", "](java", "x\n\n<svg>\n\n", "!", "a\r",
]  # fmt: skip


def cpu_s(piece: str, chars: int) -> float:
    """CPU seconds of this thread for a note of nothing but `piece`, written or refused."""
    text = (piece * (chars // len(piece) + 1))[:chars]
    begun = time.thread_time()
    with suppress(UnsafeContent):
        written(text)
    return time.thread_time() - begun


@pytest.mark.parametrize("piece", PATHOLOGICAL, ids=repr)
def test_no_piece_repeated_takes_long(piece: str) -> None:
    """guards.md 6, 60: below the million characters of a write, so that the ordinary run stays quick."""
    assert cpu_s(piece, SHORT_CHARS) < 4.0


@pytest.mark.long
@pytest.mark.parametrize("piece", PATHOLOGICAL, ids=repr)
def test_no_write_of_a_million_characters_takes_long(piece: str) -> None:
    """guards.md 6, 60. About 2 s on the machine this was made on; doubled for slower ones."""
    assert cpu_s(piece, LONG_CHARS) < 4.0


def test_plain_words_cost_next_to_nothing() -> None:
    """Prefilter: neither scanner nor parser is asked. Counted, not timed: nothing is looked at."""
    assert not active.may_hold_any("Plain words, a [link](https://ok.example), a [[note]], code `x`.\n" * 1000)


def test_a_change_that_cannot_be_looked_at_in_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the bound: refused, never written unseen."""
    monkeypatch.setattr(incoming.verifying, "MAX_CPU_S", 0.0)
    with pytest.raises(UnsafeContent, match="takes too long"):
        written("![a](https://x.example) " * 1000)
