"""Links of vaults that people keep: counts that were told by other means, and reviewed."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.guards import paths
from service.guards.paths import VaultPath
from service.vault.parts import links
from service.vault.parts.links import LinkKind
from service.vault.resolving import Names
from tests.support.markdown_oracle import Oracle

VAULTS = Path(__file__).resolve().parents[3].parent / "shared" / "vaults"
SAMPLE = 100
"""One note in so many of the larger vault is compared with another parser."""

needs_vaults = pytest.mark.skipif(not VAULTS.is_dir(), reason="the shared vaults are not beside this checkout")


def files(vault: str) -> Iterator[tuple[VaultPath, str]]:
    """Every visible file of a vault, with its text if it is a note."""
    with tarfile.open(VAULTS / f"{vault}.tar.xz") as archive:
        for member in archive:
            path = paths.from_disk(member.name.partition("/")[2])
            file = archive.extractfile(member) if path is not None and member.isfile() else None
            if path is not None and file is not None:
                is_note = path.has_suffix(paths.MARKDOWN_SUFFIXES)
                yield path, file.read().decode("utf-8", errors="replace") if is_note else ""


@needs_vaults
def test_the_links_of_a_small_vault_are_those_that_were_counted_by_hand() -> None:
    """kepano: `grep -o '\\[\\[[^]]*\\]\\]'` counts 209, 61 of them embeds (all of `.base` files that the vault does not
    hold, which is most of what is broken); `[[People]]` stands in nine notes. No Markdown link stays in the vault."""
    notes = dict(files("kepano"))
    names = Names.of(notes)
    kinds, resolved, to_people = Counter[str](), Counter[bool](), 0
    for path, text in notes.items():
        found = links.of(text)
        assert len(found) == len(re.findall(r"\[\[[^]]*\]\]", text)), path
        for use in found:
            leads_to = names.first(use.target, path)
            kinds[use.kind.value] += 1
            resolved[leads_to is not None] += 1
            kinds["embed"] += use.is_embed
            to_people += leads_to == paths.parse("Categories/People.md")
    assert kinds == {"property": 134, "wikilink": 75, "embed": 61}
    assert resolved == {True: 85, False: 124}
    assert to_people == 9


@needs_vaults
def test_the_links_of_a_large_vault_are_those_of_another_parser() -> None:
    """wdd: Markdown links, most of them relative; by markdown-it-py, one note in a hundred."""
    oracle, total, resolved = Oracle(), 0, 0
    every = list(files("wdd"))
    names = Names.of(path for path, _ in every)
    for path, text in every[::SAMPLE]:
        body = re.sub(r"\A---\n.*?\n---\n", "", text.replace("\r\n", "\n"), flags=re.DOTALL)
        expected = [
            piece[1]
            for piece in oracle.inlines(body)
            if piece[0] in ("link", "image") and not links.is_external(piece[1]) and piece[1].strip("#")
        ]
        uses = [use for use in links.of(text) if use.kind is not LinkKind.DEFINITION]
        assert [links.percent_decoded(one.partition("#")[0]) for one in expected] == [use.target for use in uses], path
        total += len(uses)
        resolved += sum(names.first(use.target, path) is not None for use in uses)
    assert total > 500
    assert resolved > total // 3
