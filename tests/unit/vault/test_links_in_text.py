"""The links of a note's text: a table of every kind, and what holds for all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.vault.parts import links
from service.vault.parts.links import LinkKind, LinkUse

_CASES = json.loads((Path(__file__).resolve().parents[2] / "vectors" / "link_cases.json").read_text(encoding="utf-8"))


def told(text: str, use: LinkUse) -> list[object]:
    """A link as the vectors have it."""
    start, end = use.target_span
    facts: list[object] = [use.kind.value, use.target, use.subpath, use.alias, text[start:end]]
    return [*facts, True] if use.is_embed else facts


@pytest.mark.parametrize("case", _CASES, ids=[case["id"] for case in _CASES])
def test_a_text_has_just_the_links_that_obsidian_finds(case: dict[str, object]) -> None:
    """Obsidian help, Internal links, Embed files, Properties; CommonMark 6.3; issue 4: not in code, not in comments."""
    text = str(case["text"])
    assert [told(text, use) for use in links.of(text)] == case["links"]


@pytest.mark.parametrize("case", _CASES, ids=[case["id"] for case in _CASES])
def test_another_target_can_be_written_in_place(case: dict[str, object]) -> None:
    """Issue 4: moving a note rewrites all of its links; all else stays as it is."""
    text = str(case["text"])
    for use in links.of(text):
        if use.kind is LinkKind.REFERENCE or not use.target:
            continue
        new = "New 'place'/é (1) & 100%.md"
        replacement = links.written(use, new)
        assert replacement is not None
        start, end = use.target_span
        after = text[:start] + replacement + text[end:]
        again = [one for one in links.of(after) if one.start == use.start and one.kind is use.kind]
        assert [one.target for one in again] == [new]
        assert [(one.subpath, one.alias, one.is_embed) for one in again] == [(use.subpath, use.alias, use.is_embed)]


@pytest.mark.parametrize("target", ["a|b", "a#b", "a]]b", "[[a", "a\nb", "", "a]", "[a", " a", "https://x.org"])
def test_a_wikilink_cannot_hold_every_name(target: str) -> None:
    """Obsidian help, Internal links: | # ^ [[ ]] in names do not work in links."""
    (use,) = links.of("[[x]]")
    assert links.written(use, target) is None


def test_a_link_knows_its_line() -> None:
    """The contract: lines are those of the file."""
    text = '---\na: 1\nb:\n  - "[[n]]"\n---\n\n> [[m]]\n> [x](y.md)\n'
    assert [(use.target, use.line) for use in links.of(text)] == [("n", 4), ("m", 7), ("y.md", 8)]


HOSTILE = {
    "one line": "[[a]]" * 20_000,
    "references to a long definition": "[r]: " + "x" * 50_000 + "\n\n" + "[r]" * 10_000,
    "entities": "[a](" + "&" * 100_000 + ")",
    "bars": "[[" + "|" * 100_000 + "]]",
    "comments": "%%[[a]]" * 10_000,
    "percent signs": "[a](" + "%20" * 30_000 + ")",
    "properties": "---\na:\n" + '- "[[z]]"\n' * 5_000 + "---\n",
    "one long property": '---\na: "[[' + "\\u0041" * 9_000 + ']]"\n---\n',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_takes_more_than_its_length(text: str) -> None:
    """House rule: bounded; a quadratic reader would not end within the suite's patience."""
    found = links.of(text)
    assert all(use.start <= use.end <= len(text) for use in found)
