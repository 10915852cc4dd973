"""A vault on the disk that holds the temporary folder, and its files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.store.files import VaultFiles
from service.store.root import Root


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def root(vault: Path) -> Iterator[Root]:
    held = Root(vault)
    yield held
    held.close()


@pytest.fixture
def files(root: Root) -> Iterator[VaultFiles]:
    made = VaultFiles(root)
    yield made
    made.close()
