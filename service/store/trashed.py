"""Names in the trash: a deleted file keeps its own, or gets a time stamp when that is taken there."""

from __future__ import annotations

import re
import secrets
import time
import unicodedata
from typing import Final

from service.guards.paths import VaultPath
from service.store import names as names_
from service.store import placing

_STAMP: Final = re.compile(r" [0-9]{8}T[0-9]{6}Z-[0-9a-f]{4}")


def stamped(path: VaultPath) -> VaultPath:
    """`path` with the time (UTC) before its suffix, and four digits so that no two are the same."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()) + "-" + secrets.token_hex(2)
    return path.parent.child(placing.marked(path.name, f" {stamp}"))


def names(folder: int, name: str) -> list[str]:
    """The names in an open folder of the trash that deletions of `name` got, the latest first.

    The time is when the file got that name (its ctime, which no sync tool sets); the stamp decides where that is the same.
    """
    found = [other for other in names_.listed(folder) if _is_of(other, name)]
    times = {other: seen.st_ctime_ns for other in found if (seen := names_.exists(folder, other)) is not None}
    return sorted(times, key=lambda other: (times[other], "".join(_STAMP.findall(other)[-1:])), reverse=True)


def _is_of(other: str, name: str) -> bool:
    return any(
        _composed(other) == _composed(wanted)
        for wanted in (name, *(placing.marked(name, stamp) for stamp in _STAMP.findall(other)[-1:]))
    )


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)
