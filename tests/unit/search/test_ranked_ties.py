"""Ranked search: notes that answer alike come by path, wherever they lie in the block."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from service.search.asked import Mode, Query
from service.search.query import search
from service.vault.picture.picture import Picture
from tests.support.desk import desk_in

COUNT = 130
"""More notes than are looked into for words side by side."""


def test_of_many_notes_that_answer_alike_the_first_by_path_come_first(tmp_path: Path) -> None:
    """Issue 6; contract.md, search_notes: ties by path. A change of other notes, or a new start, changes no order."""
    desk = desk_in(tmp_path)
    names = [f"{number:03}.md" for number in range(COUNT)]
    desk.put(dict.fromkeys(names, "red wine\n"))
    query = Query("red wine", mode=Mode.RANKED, limit=COUNT)
    for name in ["", *names[:40:7]]:
        if name:
            desk.put({name: "red wine\n\n"})
            search(desk.vault, query)
            desk.put({name: "red wine\n"})
        old, new = desk.vault, replace(desk.vault, picture=Picture(desk.vault.files.root))
        for vault in (old, new):
            assert [str(hit.path) for hit in search(vault, query).page.items] == names
