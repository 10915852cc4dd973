"""An appliance's two folders, named by the environment, for commands that run in this process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog

from service.settings.table import TABLE


@dataclass(frozen=True)
class House:
    """A vault and a state folder, and where the settings say they are."""

    vault: Path
    state: Path
    environ: dict[str, str]


@pytest.fixture(autouse=True)
def plain_logs() -> Iterator[None]:
    """A command lets logs go to the standard error of its test, which is closed when the next one logs."""
    yield
    structlog.reset_defaults()


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    for row in TABLE:
        monkeypatch.delenv(row.name, raising=False)
    vault, state = tmp_path / "vault", tmp_path / "state"
    vault.mkdir()
    state.mkdir(mode=0o700)
    environ = {"STRONGROOM_VAULT": str(vault), "STRONGROOM_STATE": str(state), "TZ": "UTC"}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return House(vault, state, environ)
