"""Small file systems of several kinds, mounted for one test. For root; elsewhere the test is skipped and says why."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

MB: Final = 1 << 20
_SIZES: Final = {"ext4": 8 * MB, "xfs": 320 * MB, "btrfs": 120 * MB}
_MAKERS: Final = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal"],
    "xfs": ["mkfs.xfs", "-q"],
    "btrfs": ["mkfs.btrfs", "-q", "--mixed"],
}
KINDS: Final = ("tmpfs", *_SIZES)


@contextmanager
def mounted(kind: str, place: Path, options: str = "size=256k") -> Iterator[Path]:
    """A small file system at `place`, which is made; unmounted afterwards. `options` are for tmpfs."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    place.mkdir(parents=True, exist_ok=True)
    if kind == "tmpfs":
        words = ["mount", "-t", "tmpfs", "-o", options, "strongroom-test", str(place)]
    else:
        words = ["mount", "-t", kind, "-o", "loop", str(_image(kind, place)), str(place)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"this machine does not let us mount {kind}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def _image(kind: str, place: Path) -> Path:
    maker = _MAKERS[kind]
    if shutil.which(maker[0]) is None:
        pytest.skip(f"{maker[0]} is not here")
    image = place.with_name(f"{place.name}.{kind}")
    with image.open("wb") as file:
        file.truncate(_SIZES[kind])
    subprocess.run([*maker, str(image)], check=True, capture_output=True)
    return image


def fill(place: Path, leaving_bytes: int = 0) -> Path:
    """Fill a file system, save for about `leaving_bytes`. Returns the file that does it."""
    filler, kept = place / ".filler", place / ".kept"
    if leaving_bytes:
        _allocate(kept, leaving_bytes, at_least=leaving_bytes)
    _allocate(filler, 4 * MB, at_least=512)
    if leaving_bytes:
        kept.unlink()
        subprocess.run(["sync", "-f", place], check=True)  # of this file system alone
    return filler


def _allocate(path: Path, step: int, at_least: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        while step >= at_least:
            try:
                os.posix_fallocate(descriptor, os.fstat(descriptor).st_size, step)
            except OSError:
                step //= 2
            else:
                if step == at_least:
                    return
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
