"""Which name on the disk a name means: letters may be encoded in two ways (NFC, NFD), and other devices ignore case.

Every question is about one open folder and one component.
"""

from __future__ import annotations

import difflib
import errno
import os
import unicodedata
from collections.abc import Collection, Iterable
from itertools import islice
from typing import Final

_MAX_COMPARED: Final = 5000  # names looked at for a hint; about a tenth of a second
_MAX_HINTS: Final = 3
_LIKENESS: Final = 0.6
_LIKENESS_OF_NAMES: Final = 0.8


class TwoNamesError(Exception):
    """Two names in the folder are equal but for their encoding."""


def spelled(folder: int, name: str) -> str | None:
    """How the folder spells `name`: exactly so, else equal under NFC, else either without the white space around it.

    Raises:
        TwoNamesError: when more than one name answers.
    """
    for wanted in dict.fromkeys((name, name.strip())):
        found = _of_same_letters(folder, wanted) if wanted not in ("", ".", "..") else []
        if len(found) > 1:
            raise TwoNamesError
        if found:
            return found[0]
    return None


def spelled_among(known: Collection[str], name: str) -> str | None:
    """As `spelled`, of a folder that holds just the names `known`.

    Raises:
        TwoNamesError: as `spelled`.
    """
    for wanted in dict.fromkeys((name, name.strip())):
        letters = unicodedata.normalize("NFC", wanted)
        found = [one for one in known if unicodedata.normalize("NFC", one) == letters]
        if len(found) > 1:
            raise TwoNamesError
        if found:
            return found[0]
    return None


def twin(folder: int, name: str, known: Collection[str] | None = None) -> str | None:
    """A name in the folder that other devices take for `name`: equal under NFC and case folding, but not the same.

    With `known` only one of those.
    """
    return next((found for found in (listed(folder) if known is None else known) if are_twins(found, name)), None)


def are_twins(name: str, other: str) -> bool:
    """Whether the two are different, but one name to devices that ignore case and encoding."""
    return name != other and _folded(name) == _folded(other)


def exists(folder: int, name: str) -> os.stat_result | None:
    """What stands under exactly this name, links not followed; None for nothing."""
    try:
        return _look(folder, name)
    except OSError:
        return None


def listed(folder: int) -> list[str]:
    """All names in an open (O_PATH) folder; none when it may not be listed."""
    try:
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return []
    try:
        return os.listdir(descriptor)
    finally:
        os.close(descriptor)


def nearest(asked: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """Up to three of the paths `candidates` that look like `asked`: the same name elsewhere first, then likeness.

    A path may be like it as a whole, or in its name alone, in whatever folder.
    """
    pool = {_folded(path): path for path in islice(candidates, _MAX_COMPARED)}
    wanted = _folded(asked)
    called: dict[str, list[str]] = {}
    for folded, path in pool.items():
        called.setdefault(folded.rpartition("/")[2], []).append(path)
    name = wanted.rpartition("/")[2]
    found = sorted(called.get(name, ()))
    found += (pool[folded] for folded in difflib.get_close_matches(wanted, pool, _MAX_HINTS, _LIKENESS))
    if len(set(found)) < _MAX_HINTS:
        for alike in difflib.get_close_matches(name, called, _MAX_HINTS, _LIKENESS_OF_NAMES):
            found += sorted(called[alike])
    return tuple(dict.fromkeys(found))[:_MAX_HINTS]


def _of_same_letters(folder: int, name: str) -> list[str]:
    composed = unicodedata.normalize("NFC", name)
    forms = dict.fromkeys((name, composed, unicodedata.normalize("NFD", name)))
    present = [form for form in forms if _look(folder, form)]
    if len(present) == 1:
        return present
    # None: the name may mix both encodings. Several: a file system that ignores the encoding itself answers to all.
    return [found for found in listed(folder) if unicodedata.normalize("NFC", found) == composed]


def _look(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, ValueError):  # ValueError: NUL, which no file has
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        raise


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
