"""What doctor is told about the vault's file system."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from service.errors import VaultDenied
from service.store.files import VaultFiles
from service.store.root import Root
from tests.support.kernels import WEAKER, RefusingKernel

MISSING = {
    "whole": (),
    "without unnamed files": ("unnamed_files",),
    "without proc": ("unnamed_files",),
    "without exchange": ("exchange",),
    "without renameat2": ("exchange", "free_rename"),
    "without leases": ("leases",),
    "without links (EIO)": ("unnamed_files", "links"),
    "a FUSE mount": ("unnamed_files", "exchange", "free_rename"),
    "without links (EPERM) and flags": ("unnamed_files", "exchange", "free_rename", "links", "leases"),
}


@pytest.mark.parametrize("kind", MISSING)
def test_what_a_file_system_lacks_is_named_and_no_trace_is_left(root: Root, vault: Path, kind: str) -> None:
    """Bar 77: doctor finds a weak file system."""
    found = VaultFiles(root, RefusingKernel(WEAKER[kind])).capabilities()
    assert found.missing == MISSING[kind]
    assert list(vault.iterdir()) == []


def test_the_slower_way_of_opening_is_named(vault: Path) -> None:
    root = Root(vault, use_openat2=False)
    assert VaultFiles(root).capabilities().missing == ("safe_open",)
    root.close()


def test_a_vault_that_cannot_be_written_is_said_in_our_words(root: Root, vault: Path) -> None:
    files = VaultFiles(root, RefusingKernel({"open_new": errno.EROFS}))
    with pytest.raises(VaultDenied, match=f"mounted read-only.*{os.geteuid()}"):
        files.capabilities()
