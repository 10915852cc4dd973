"""What the vault's file system can do, tried out for doctor. Writing itself never asks: it tries, and does with less."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass, fields

from service.guards.paths import ROOT, VaultPath
from service.store import staging
from service.store.root import Root
from service.store.syscalls import Kernel


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Each True when it worked in the vault just now."""

    safe_open: bool
    """openat2: the kernel itself refuses names that lead out of the vault; without it, a slower walk does."""
    unnamed_files: bool
    """O_TMPFILE: a kill while writing leaves nothing behind."""
    exchange: bool
    """RENAME_EXCHANGE: another program's version is never lost, even when it is saved at the same moment."""
    free_rename: bool
    """RENAME_NOREPLACE: a move can never replace a file that appears at the same moment."""
    links: bool
    """Hard links: needed for guard links, and in the place of `free_rename`."""
    leases: bool
    """F_SETLEASE: a program that keeps a note open while it writes is noticed."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of those that did not work."""
        return tuple(field.name for field in fields(self) if not getattr(self, field.name))


def probe(kernel: Kernel, root: Root, folder: VaultPath = ROOT) -> Capabilities:
    """Try each on small hidden files in `folder`, and remove them.

    Raises:
        OSError: when no file can be made there at all.
    """
    with root.folder(folder) as held:
        return _probe(kernel, root, held)


def _probe(kernel: Kernel, root: Root, folder: int) -> Capabilities:
    one, other, third = (_name() for _ in range(3))
    try:
        for name in (one, other):
            os.close(kernel.open_new(folder, name))
        descriptor = os.open(one, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
        try:
            has_leases = _works(lambda: kernel.take_lease(descriptor))
        finally:
            os.close(descriptor)
        return Capabilities(
            safe_open=root.has_openat2,
            unnamed_files=_unnamed_works(kernel, folder, third),
            exchange=_works(lambda: kernel.exchange(folder, one, other)),
            free_rename=_works(lambda: kernel.rename_free(folder, one, folder, _name_from(one))),
            links=_works(lambda: kernel.link(folder, other, folder, _name_from(other))),
            leases=has_leases,
        )
    finally:
        for name in (one, other, third, _name_from(one), _name_from(other)):
            with contextlib.suppress(OSError):
                kernel.unlink(folder, name)


def _unnamed_works(kernel: Kernel, folder: int, name: str) -> bool:
    try:
        descriptor = kernel.open_unnamed(folder)
    except OSError:
        return False
    try:
        return _works(lambda: kernel.link_unnamed(descriptor, folder, name))
    finally:
        os.close(descriptor)


def _works(call: Callable[[], None]) -> bool:
    try:
        call()
    except OSError:
        return False
    return True


def _name() -> str:
    return f"{staging.PREFIX}probe-{os.urandom(8).hex()}.tmp"


def _name_from(name: str) -> str:
    return name.replace("probe-", "probe-0")
