"""Give a file another name, never over one that is taken: what create, move, trash and every copy we keep stand on."""

from __future__ import annotations

import contextlib
import os
from typing import Final

import structlog

from service.store import names
from service.store.syscalls import NO_LINKS, NO_SUCH_CALL, Folder

_MAX_NAME_BYTES: Final = 255

log = structlog.get_logger()


def place(source: Folder, name: str, target: Folder, new_name: str) -> bool:
    """Rename without replacing: RENAME_NOREPLACE, else a link and an unlink. If only the unlink fails, both names stay.

    Returns:
        False when this file system has neither (nothing was changed then).

    Raises:
        FileExistsError: the new name is taken.
    """
    try:
        source.kernel.rename_free(source.fd, name, target.fd, new_name)
    except OSError as error:
        if error.errno not in NO_SUCH_CALL:
            raise
    else:
        return True
    try:
        source.kernel.link(source.fd, name, target.fd, new_name)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        return False
    try:
        source.kernel.unlink(source.fd, name)
    except OSError:  # the file has its new name, so this is no failure; of a name of ours the sweep takes care
        log.warning("vault.second_name_stayed")
    return True


def keep_copy(folder: Folder, name: str, like: str, mark: str) -> str:
    """Rename a file of ours, that holds somebody's text, to a visible name: `like (mark)`, else with one more number.

    Returns:
        The name it has now.

    Raises:
        OSError: it keeps the name it had.
    """
    for number in range(1, 100):
        copy = marked(like, f" ({mark})" if number == 1 else f" ({mark} {number})")
        with contextlib.suppress(FileExistsError):
            if place(folder, name, folder, copy):
                return copy
            if names.exists(folder.fd, copy) is None:  # neither call there: the name is long and random enough
                folder.kernel.rename(folder.fd, name, folder.fd, copy)
                return copy
    raise FileExistsError(like)


def marked(name: str, mark: str) -> str:
    """`name` with `mark` before its suffix, cut so that it is no longer than a name may be."""
    stem, suffix = os.path.splitext(name)
    while stem and len(os.fsencode(stem + mark + suffix)) > _MAX_NAME_BYTES:
        stem = stem[:-1]
    return stem + mark + suffix
