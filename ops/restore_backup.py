"""`strongroom restore-backup FILE`: put a backup's vault, history and state where they belong.

Every byte of the archive is checked before anything is touched. It goes into empty folders; with `--overwrite` it is laid
over what is there, file by file, and what the archive does not know stays. No server may run on the state meanwhile.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ops import output

if TYPE_CHECKING:
    from ops.archive import Archive
    from service.settings import Settings


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--to-vault", type=click.Path(path_type=Path), help="Folder for the notes; else STRONGROOM_VAULT.")
@click.option(
    "--to-state", type=click.Path(path_type=Path), help="Folder for tokens and history; else STRONGROOM_STATE."
)
@click.option("--check", is_flag=True, help="Only check the archive; touch nothing.")
@click.option(
    "--overwrite", is_flag=True, help="Go on although a folder is not empty: files of the same name are replaced."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script.")
def command(
    *, file: Path, to_vault: Path | None, to_state: Path | None, check: bool, overwrite: bool, as_json: bool
) -> None:
    """Check the archive FILE, then unpack it into an empty vault and an empty state.

    Tokens are as they were when the backup was made: one that was revoked since then works again, so look at
    `strongroom tokens list` afterwards.
    """
    from ops import archive, unpack
    from ops.opened import load_settings

    with output.progress("checking") as progress, archive.verified(file, progress) as found:
        if not check:
            targets = _targets(found, load_settings(), to_vault, to_state)
            with unpack.reserved(targets, may_overwrite=overwrite), output.progress("unpacking") as unpacking:
                unpack.into(targets, found, unpacking)
    _tell(file, found, is_unpacked=not check, as_json=as_json)


def _targets(found: Archive, settings: Settings, to_vault: Path | None, to_state: Path | None) -> dict[str, Path]:
    """Where each tree of the archive goes."""
    from service.errors import BadArgument

    vault, state = (to_vault or settings.vault).absolute(), (to_state or settings.state).absolute()
    if state.resolve().is_relative_to(vault.resolve()) or vault.resolve().is_relative_to(state.resolve()):
        raise BadArgument("vault and state may not lie in one another; name two folders.")
    targets = {"vault": vault, "state": state}
    if "history" in found.manifest.entries:
        if settings.history_dir in ("", ".git"):
            raise BadArgument(
                "this backup's history lay in a folder of its own: set STRONGROOM_HISTORY_DIR to where it goes."
            )
        targets["history"] = Path(settings.history_dir)
    return targets


def _tell(file: Path, found: Archive, *, is_unpacked: bool, as_json: bool) -> None:
    manifest = found.manifest
    files = [entry for entry in manifest.entries.values() if not entry.is_folder]
    if as_json:
        output.print_json(
            {
                "file": str(file.absolute()),
                "made": manifest.made,
                "version": manifest.version,
                "files": len(files),
                "bytes": sum(entry.size_bytes for entry in files),
                "unpacked": is_unpacked,
            }
        )
        return
    output.say(f"{file}: sound; {len(files)} files, made {manifest.made} by Strongroom {manifest.version}.")
    if is_unpacked:
        output.say(
            "Unpacked. Tokens are as they were then: look at `strongroom tokens list`, and revoke again what was "
            "revoked since."
        )
