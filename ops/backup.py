"""`strongroom backup FILE`: vault, history and state in one archive that was read back and found sound.

Safe beside a running server. Most of it is read without a lock; what changed meanwhile is read again, and the last such
round holds the history and the writer lock, so that notes, history and tokens belong together. Tools that write wait for
that round, which is as short as what changed since the one before. Programs that write into the vault without our lock
(an editor, a sync) are caught by the same comparison: a file is taken again until it held still while it was read.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ops import exits, output

if TYPE_CHECKING:
    from ops.collect import Result
    from ops.opened import Opened

LOCK_TIMEOUT_S = 60.0
LINKS_SHOWN = 5


@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script.")
def command(file: Path, as_json: bool) -> int:
    """Write vault, history and state into the archive FILE, and read it back.

    FILE must not exist yet. With - it goes to standard output, unread; check it later with `restore-backup --check`.
    The archive holds every note, and what is needed to check tokens: keep it as safe as the vault. Ends with code 1
    when a file could not be read; the archive then holds the rest.
    """
    from ops.opened import opened

    with opened() as parts, _space_told():
        if str(file) == "-":
            result = _to_stdout(parts)
        else:
            _check_target(file, parts)
            result = _to_file(parts, file)
    _tell(file, result, as_json=as_json)
    return exits.CHECK_FAILED if result.unreadable else exits.OK


def _check_target(file: Path, parts: Opened) -> None:
    from service.errors import BadArgument, Conflict, NotFound

    folder = file.absolute().parent
    if not folder.is_dir():
        raise NotFound(f"there is no folder {str(folder)!r} to write the backup to; make it first.")
    for name, tree in (("vault", parts.settings.vault), ("state", parts.settings.state)):
        if folder.resolve().is_relative_to(tree.resolve()):
            raise BadArgument(f"a backup inside the {name} would hold itself; write it somewhere else.")
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        raise BadArgument(
            f"nothing can be written to {str(folder)!r}, a read-only file system; write it somewhere else, "
            "or from a container to your own side: podman exec strongroom strongroom backup - > notes.tar"
        )
    if os.path.lexists(file):
        raise Conflict(f"{str(file)!r} exists already and is not overwritten; choose another name.")


def _to_file(parts: Opened, file: Path) -> Result:
    """Write beside the target, fsync, read back, and only then give it its name."""
    from ops import archive, collect

    temporary = file.with_name(f".{file.name}.strongroom-{os.getpid()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as stream, output.progress("writing") as progress:
            result = collect.write(parts, stream, LOCK_TIMEOUT_S, progress)
            stream.flush()
            os.fsync(descriptor)
        with output.progress("reading back") as progress, archive.verified(temporary, progress):
            _name(temporary, file)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
    return result


@contextlib.contextmanager
def _space_told() -> Iterator[None]:
    from ops import collect
    from service.errors import NoSpace

    try:
        yield
    except OSError as error:
        if collect.is_full(error):
            raise NoSpace("backup") from error
        raise


def _name(temporary: Path, file: Path) -> None:
    """Give the archive its name without overwriting one that appeared meanwhile."""
    from service.errors import Conflict

    try:
        os.link(temporary, file, follow_symlinks=False)
    except FileExistsError as error:
        raise Conflict(f"{str(file)!r} appeared meanwhile and is not overwritten; choose another name.") from error
    except OSError:  # no hard links there (exFAT, some network shares)
        temporary.rename(file)
    descriptor = os.open(file.absolute().parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _to_stdout(parts: Opened) -> Result:
    from ops import collect

    if sys.stdout.isatty():
        raise click.UsageError("An archive is nothing for a terminal: redirect it into a file.")
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as stream:
        return collect.write(parts, stream, LOCK_TIMEOUT_S, lambda _: None)


def _tell(file: Path, result: Result, *, as_json: bool) -> None:
    to_stdout = str(file) == "-"
    for name in result.unreadable:
        output.say(f"strongroom: could not be read and is missing in the backup: {name}")
    if as_json and not to_stdout:
        output.print_json(
            {
                "file": str(file.absolute()),
                "bytes": result.size_bytes,
                "files": result.files,
                "sha256": result.sha256,
                "links_left_out": list(result.links),
                "unreadable": list(result.unreadable),
                "unsteady": list(result.unsteady),
            }
        )
        return
    for name in result.unsteady:
        output.say(f"strongroom: changed each time it was read; the backup has the last reading: {name}")
    if result.links:
        shown, more = result.links[:LINKS_SHOWN], len(result.links) - LINKS_SHOWN
        rest = f" and {more} more" if more > 0 else ""
        output.say(f"strongroom: left out, being links or special files: {', '.join(shown)}{rest}")
    checked = "not read back: check it with restore-backup --check." if to_stdout else "read back and sound."
    output.say(
        f"{'The archive' if to_stdout else file}: {result.files} files, {result.size_bytes:,} bytes, {checked}\n"
        "It holds every note and the keys to check tokens with: keep it as safe as the vault itself."
    )
