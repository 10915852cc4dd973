"""Literal search equals reading every note of the disk, after whatever changes, for whoever asks, however it is asked."""

from __future__ import annotations

import re
import shutil
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.guards import outgoing, paths
from service.guards.folders import Scope
from service.search import literal, scanning
from service.search.asked import NAME_BONUS, Order, Part, Query
from service.search.query import search
from service.vault import frontmatter
from service.vault.picture import block
from tests.support.desk import Desk, desk_in

LETTERS = st.sampled_from(
    [
        *"aAkKsStTiIfßẞſﬁﬆıİ\u0307éÉσςΣ系👍\u200d \t\r\n-x",
        "\r\n",
        "\n",
        "\u2028",
        "\x85",
        "\u212a",
        "\ufffd",
        "ss",
        "SS",
        "word",
    ]
)
TOPS = st.sampled_from(["", "", "---\naß: é\n---\n", "---\r\nx: word\r\n---\r\n", "---\nx", "s <!-- word -->\n"])
TEXT = st.tuples(
    TOPS, st.lists(LETTERS, max_size=60).map("".join), st.sampled_from([b"", b"", b"\xff", b"\xc3\n"])
).map(lambda parts: (parts[0] + parts[1]).encode() + parts[2])
WORDS = st.lists(LETTERS, min_size=1, max_size=3).map("".join)
PATHS = st.sampled_from(
    [
        "a.md",
        "Word s.md",
        "É/b.md",
        "É/straße.md",
        "ſ.txt",
        "c/d.md",
        "c/SS/ﬁ.MD",
        "c/e.markdown",
        "Clippings/s.md",
        "c/Clippings/a.md",
    ]
)
CHANGES = st.dictionaries(PATHS, st.none() | TEXT, max_size=8)
FOLDERS = st.sampled_from(["", "", "c", "Clippings"])
EXCLUDED = st.sampled_from([(), (), ("c",), ("a.md", "É"), ("c/d.md", "c/SS")])
ASKED = st.builds(
    lambda words, folder, excluded, **more: Query(
        words, folder=paths.folder(folder), excluded=tuple(map(paths.parse, excluded)), **more
    ),
    WORDS,
    FOLDERS,
    EXCLUDED,
    order=st.sampled_from(Order),
    part=st.sampled_from([Part.BOTH, *Part]),
    is_case_sensitive=st.sampled_from([False, False, True]),
    limit=st.sampled_from([1, 2, 5, 50]),
    offset=st.sampled_from([0, 0, 1, 3]),
    include_low_trust=st.booleans(),
)
SCOPES = st.sampled_from(
    [None, None, None, Scope.of([paths.folder("c")]), Scope.of([paths.folder("É"), paths.folder("c/SS")])]
)


@dataclass(frozen=True)
class Line:
    """A hit as it is expected."""

    path: str
    line: int
    score: int
    snippet: str


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """One desk for all examples: each lays its notes out anew."""
    return desk_in(tmp_path_factory.mktemp("desk"))


@given(
    st.lists(st.tuples(CHANGES, ASKED, SCOPES), min_size=1, max_size=5),
    st.sampled_from([0, 3, 5000]),
    st.sampled_from([1, 90, 4_000_000]),
)
@settings(max_examples=250, deadline=None)
def test_every_answer_is_that_of_reading_the_disk(
    desk: Desk, rounds: list[tuple[dict[str, bytes | None], Query, Scope | None]], max_counted: int, full_bytes: int
) -> None:
    """Issue 6; contract.md, search_notes: hits, order, score, total; with segments of any size, and dead places in them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(literal, "MAX_COUNTED", max_counted)
        patch.setattr(literal, "_FIRST_LOOK", 1 + max_counted % 2)
        patch.setattr(block, "FULL_BYTES", full_bytes)
        for left in desk.folder.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        desk.put({"c/keep.txt": "x", "Clippings/keep.txt": "x"})
        for changes, query, scope in rounds:
            change(desk.folder, changes)
            if scope is not None and query.folder.parts not in ((), ("c",)[: scope.holds(paths.folder("c"))]):
                query = replace(query, folder=paths.ROOT)
            check(desk, query, scope)


def change(folder: Path, changes: dict[str, bytes | None]) -> None:
    for path, data in changes.items():
        if data is None:
            (folder / path).unlink(missing_ok=True)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)


def check(desk: Desk, query: Query, scope: Scope | None) -> None:
    vault = desk.vault
    if scope is not None:
        vault = replace(vault, files=vault.files.limited(scope), picture=vault.picture.limited(scope))
    expected = hits(desk.folder, query, scope)
    found = search(vault, query)
    page = [Line(str(hit.path), hit.line, hit.score, hit.snippet) for hit in found.page.items]
    assert page == expected[query.offset : query.offset + query.limit]
    assert found.notes == len({hit.path for hit in expected})
    assert found.skipped == 0
    if found.is_total_exact:
        assert found.page.total == len(expected)
    else:
        assert found.notes <= found.page.total <= len(expected)
    is_end = query.offset + query.limit >= len(expected)
    assert (found.page.next_offset is None) is (is_end or not page)
    is_low_left_out = not query.include_low_trust and not query.folder.parts and scope is None
    assert [str(path) for path in found.left_out] == (["Clippings"] if is_low_left_out else [])


def hits(folder: Path, query: Query, scope: Scope | None) -> list[Line]:
    """What a plain reading of the disk finds, in order."""
    fold = str if query.is_case_sensitive else str.casefold
    found: list[tuple[tuple[int, str], list[Line]]] = []
    for file in folder.rglob("*"):
        path = paths.VaultPath(file.relative_to(folder).parts)
        is_low = path.parts[0] == "Clippings" and not query.include_low_trust and query.folder.parts != ("Clippings",)
        is_left_out = any(
            path.is_inside(one) and one != query.folder for one in query.excluded if one.is_inside(query.folder)
        )
        if (
            file.is_dir()
            or is_low
            or is_left_out
            or not path.is_inside(query.folder)
            or (scope and not scope.holds(path))
        ):
            continue
        data = file.read_bytes()
        lines = shown_lines(data)
        last = frontmatter.line_count(data) if path.has_suffix(paths.MARKDOWN_SUFFIXES) else 0
        numbers = [
            number
            for number, line in enumerate(lines, start=1)
            if fold(query.words) in fold(line)
            and (query.part is Part.BOTH or (number <= last) is (query.part is Part.FRONTMATTER))
        ]
        is_named = fold(query.words) in fold(unicodedata.normalize("NFC", path.stem))
        score = len(numbers) + NAME_BONUS * is_named
        first = {Order.RELEVANCE: -score, Order.PATH: 0, Order.MODIFIED: -file.stat().st_mtime_ns}[query.order]
        given_lines = numbers or [1] * (is_named and query.part is Part.BOTH)
        if given_lines:
            found.append(
                ((first, str(path)), [Line(str(path), line, score, lines[line - 1].strip()) for line in given_lines])
            )
    return [line for _, lines in sorted(found, key=lambda one: one[0]) for line in lines]


def shown_lines(data: bytes) -> list[str]:
    return re.split(r"\r\n|\n", outgoing.view(data.decode("utf-8", "replace").removeprefix("\ufeff")).text)


BUFFERS = [b"ab" * 100, bytes(range(256)) * 3, "aßé系".encode() * 50]


@given(st.sampled_from(BUFFERS), st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), st.integers(1, 70))
@settings(max_examples=500, deadline=None)
def test_bytes_are_found_and_counted_as_bytes_do_it(data: bytes, start: int, end: int, at: int, size: int) -> None:
    """search.md 4.2: stringzilla against bytes.find, over borders and beyond them."""
    wanted = data[at : at + size] or b"z"
    assert scanning.find(data, wanted, start, min(end, len(data))) == data.find(wanted, start, min(end, len(data)))
    if start <= min(end, len(data)):
        assert scanning.count(data, wanted, start, min(end, len(data))) == data.count(
            wanted, start, min(end, len(data))
        )
