"""What every test has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support import databases


@pytest.fixture
def anyio_backend() -> str:
    """The event loop we run on: the service is asyncio, as uvicorn is."""
    return "asyncio"


@pytest.fixture(autouse=True)
def closed_databases() -> Iterator[None]:
    """What a test opened by `tests.support.databases` is closed when it ends."""
    yield
    databases.close_all()
