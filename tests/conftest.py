"""What every test has."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("strongroom", deadline=None)  # a busy machine is no failure; time is measured in tests/bench
settings.load_profile("strongroom")


@pytest.fixture
def anyio_backend() -> str:
    """The event loop we run on: the service is asyncio, as uvicorn is."""
    return "asyncio"
