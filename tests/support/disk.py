"""What tests say often about the files of a vault."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from service.guards import paths
from service.guards.paths import VaultPath


def allow() -> None:
    """A permit that never refuses."""


def at(raw: str) -> VaultPath:
    """A path as it is, whatever its name."""
    return paths.tracked(raw)


def texts(vault: Path) -> Mapping[str, bytes]:
    """Every file in the vault, hidden ones too, and what it holds."""
    return {
        str(path.relative_to(vault)): path.read_bytes()
        for path in sorted(vault.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
