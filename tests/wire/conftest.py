"""A service for the tests of one module: starting one takes seconds, and most tests leave it as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.rooms import ALL_TOOLSETS
from tests.support.service import Service, wait_until


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """`strongroom serve`, with all toolsets and further tools that behave badly, and a note `old.md` that its first commit took."""
    folder = tmp_path_factory.mktemp("service")
    (folder / "vault").mkdir()
    (folder / "vault" / "old.md").write_text("from before\n")
    with Service.start(folder, module="tests.support.odd_tools", TOOLSETS=ALL_TOOLSETS) as service:
        wait_until(
            lambda: any((service.state / "history.git" / "refs" / "heads").iterdir()), 20, "make its first commit"
        )
        yield service


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    """A token that may read and write."""
    return service.token("module")
