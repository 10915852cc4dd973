"""The pages made from the code are what the code says today."""

from __future__ import annotations

import pytest

from service.settings.table import TABLE
from tests.support import reference


@pytest.mark.parametrize("path", reference.PAGES)
def test_a_page_made_from_the_code_is_current(path: str) -> None:
    """Mend it with: python -m tests.support.reference --write"""
    assert (reference.ROOT / path).read_text(encoding="utf-8") == reference.PAGES[path]()


def test_every_kind_of_setting_is_explained() -> None:
    assert {row.kind for row in TABLE} <= reference._KINDS.keys()
    assert reference._KINDS.keys() <= {row.kind for row in TABLE}
