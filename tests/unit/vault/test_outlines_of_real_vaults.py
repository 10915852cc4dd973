"""Headings and tags of vaults that people keep, against another parser and counts that were made by other means."""

from __future__ import annotations

import itertools
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from service.guards.markdown import document
from service.vault.parts import headings, tags
from tests.support.markdown_oracle import Oracle, blocks_by_line

VAULTS = Path(__file__).resolve().parents[3].parent / "shared" / "vaults"
SAMPLE = 60
"""One note in so many of the larger vault is compared with another parser."""
FRONT = re.compile(r"\A---\n.*?^---[ \t]*$", re.MULTILINE | re.DOTALL)

needs_vaults = pytest.mark.skipif(not VAULTS.is_dir(), reason="the shared vaults are not beside this checkout")


def texts(vault: str, every: int = 1) -> Iterator[tuple[str, str]]:
    """The name and text of one note in so many, with LF for line ends and without a byte order mark."""
    with tarfile.open(VAULTS / f"{vault}.tar.xz") as archive:
        notes = (member for member in archive if member.isfile() and member.name.endswith(".md"))
        for member in itertools.islice(notes, 0, None, every):
            file = archive.extractfile(member)
            assert file is not None
            yield member.name, file.read().decode("utf-8-sig", errors="replace").replace("\r\n", "\n")


def without_front(text: str) -> str:
    """The same lines without front matter, which CommonMark does not know."""
    return FRONT.sub(lambda found: "\n" * found[0].count("\n"), text)


@needs_vaults
def test_the_tags_of_a_small_vault_are_those_that_its_yaml_names() -> None:
    """kepano: 38 in 103 notes, all in front matter; read here by ruamel.yaml's own loader."""
    ours, theirs = Counter[str](), Counter[str]()
    for _, text in texts("kepano"):
        ours.update(use.name for use in tags.of(text))
        front = FRONT.match(text)
        with suppress(YAMLError):  # templates: `created: {{date}}`
            named = (YAML(typ="safe", pure=True).load(front[0][4:-3]) or {}).get("tags") if front else None
            theirs.update(named if isinstance(named, list) else [named] if named else [])
    assert ours == theirs
    assert ours.total() == 38
    assert ours["categories"] == 21


@needs_vaults
def test_the_headings_of_a_large_vault_are_those_of_another_parser() -> None:
    """wdd; where its parser and our scanner see other blocks, both are known and told of in docs/explanation/guards.md."""
    oracle, compared, other = Oracle(), 0, 0
    for name, text in texts("wdd", SAMPLE):
        plain = without_front(text)
        if blocks_by_line(plain, document(plain)) != oracle.blocks(plain):
            other += 1
            continue
        tokens = oracle.tokens(plain)
        expected = [
            (int(opening.tag[1]), " ".join(inline.content.split()), opening.map[0] + 1)
            for opening, inline in itertools.pairwise(tokens)
            if opening.type == "heading_open" and opening.level == 0 and opening.map is not None
        ]
        assert [(one.level, one.text, one.line) for one in headings.of(text)] == expected, name
        compared += len(expected)
    assert compared > 500
    assert other < 5


@needs_vaults
def test_a_large_vault_without_tags_has_hardly_any() -> None:
    """wdd has no tags: what looks like one in a sixtieth of it (`#define` in a paragraph) can be counted on one hand."""
    found = [(name, use.name) for name, text in texts("wdd", SAMPLE) for use in tags.of(text)]
    assert len(found) <= 5, found
