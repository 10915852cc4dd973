"""What every test has."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """The event loop we run on: the service is asyncio, as uvicorn is."""
    return "asyncio"
