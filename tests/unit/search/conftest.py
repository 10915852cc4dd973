"""A desk for every test of this room."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.desk import Desk, desk_in


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)
