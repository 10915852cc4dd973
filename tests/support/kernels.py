"""Kernels that refuse calls, as weaker file systems do, or that let another program act between two of our calls."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from typing import Any

from service.store.syscalls import Kernel

Act = Callable[[], object]


class ActingKernel(Kernel):
    """Does what another program would do right before or after the n-th call of a kind (counted from 1)."""

    def __init__(
        self, before: Mapping[tuple[str, int], Act] | None = None, after: Mapping[tuple[str, int], Act] | None = None
    ) -> None:
        self.before, self.after = dict(before or {}), dict(after or {})
        self.calls: list[str] = []


class RefusingKernel(Kernel):
    """Answers some calls with an errno, as a weaker file system or a broken disk does."""

    def __init__(self, refused: Mapping[str, int]) -> None:
        self.refused = dict(refused)


class FailingKernel(RefusingKernel):
    """Fails the n-th call of whatever kind (counted from 1), once; refuses what a weaker file system lacks besides."""

    def __init__(self, nth: int, number: int, refused: Mapping[str, int]) -> None:
        super().__init__(refused)
        self.left, self.number, self.failed = nth, number, ""


def _acting(name: str) -> Callable[..., Any]:
    real = getattr(Kernel, name)

    def call(self: ActingKernel, *args: Any) -> Any:
        self.calls.append(name)
        turn = (name, self.calls.count(name))
        if turn in self.before:
            self.before.pop(turn)()
        result = real(self, *args)
        if turn in self.after:
            self.after.pop(turn)()
        return result

    return call


def _refusing(name: str) -> Callable[..., Any]:
    real = getattr(Kernel, name)

    def call(self: RefusingKernel, *args: Any) -> Any:
        if name in self.refused:
            raise OSError(self.refused[name], os.strerror(self.refused[name]))
        return real(self, *args)

    return call


def _failing(name: str) -> Callable[..., Any]:
    refusing = _refusing(name)

    def call(self: FailingKernel, *args: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            self.failed = name
            raise OSError(self.number, os.strerror(self.number))
        return refusing(self, *args)

    return call


for _name in [name for name in vars(Kernel) if not name.startswith("_")]:
    setattr(ActingKernel, _name, _acting(_name))
    setattr(RefusingKernel, _name, _refusing(_name))
    setattr(FailingKernel, _name, _failing(_name))

WEAKER: Mapping[str, Mapping[str, int]] = {
    "whole": {},
    "without unnamed files": {"open_unnamed": errno.EOPNOTSUPP},
    "without proc": {"link_unnamed": errno.ENOENT},
    "without exchange": {"exchange": errno.EINVAL},
    "without renameat2": {"exchange": errno.ENOSYS, "rename_free": errno.ENOSYS},
    "with renameat2 forbidden": {"exchange": errno.EPERM, "rename_free": errno.EPERM},
    "without leases": {"take_lease": errno.EINVAL},
    "owned by somebody else": {"take_lease": errno.EACCES},
    **{
        f"without links ({errno.errorcode[number]})": {"link_unnamed": number, "link": number}
        for number in (errno.EPERM, errno.EIO, errno.EINVAL, errno.EOPNOTSUPP)
    },
    **{
        f"without links ({errno.errorcode[number]}) and flags": {
            "open_unnamed": errno.EOPNOTSUPP,
            "link_unnamed": number,
            "link": number,
            "exchange": errno.EINVAL,
            "rename_free": errno.EINVAL,
            "take_lease": errno.EINVAL,
        }
        for number in (errno.EPERM, errno.EIO, errno.EINVAL, errno.EOPNOTSUPP)
    },
    "a FUSE mount": {"open_unnamed": errno.EOPNOTSUPP, "exchange": errno.EINVAL, "rename_free": errno.EINVAL},
}
"""File systems by what they cannot do. Sources: bindfs (tried), docker/for-mac#5036, docker-machine#45, orbstack#1424."""
