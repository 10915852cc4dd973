"""Every note that came or changed is looked into, whatever happens on the way."""

from __future__ import annotations

import pytest

from service.search.query import Query, search
from service.vault.picture import picture
from tests.support.desk import Desk


def test_a_note_at_which_looking_failed_is_looked_at_by_the_next_question(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of ours, too, must not leave a note out for good: neither found nor counted."""
    desk.put({f"{number}.md": "word\n" for number in range(5)})

    def fail(text: bytes) -> bytes:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(picture, "folded", fail)
        with pytest.raises(MemoryError):
            search(desk.vault, Query("word"))
    found = search(desk.vault, Query("word"))
    assert (found.notes, found.skipped) == (5, 0)
