"""A vault with its history, fresh for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.timeline import Timeline, timeline_in


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Timeline]:
    """An empty vault whose history begins now, at noon UTC of 2026-03-01, in Berlin."""
    with timeline_in(tmp_path) as made:
        yield made
