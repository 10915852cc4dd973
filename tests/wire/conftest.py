"""A service for the tests of one module: starting one takes seconds, and most tests leave it as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.service import Service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """`strongroom serve`, with further tools that behave badly."""
    with Service.start(tmp_path_factory.mktemp("service"), module="tests.support.odd_tools") as service:
        yield service


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    """A token that may read and write."""
    return service.token("module")
