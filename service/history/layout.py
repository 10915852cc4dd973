"""Where the git directory is, how ours is laid out, and which of the owner's can be used at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from dulwich.config import ConfigFile

from service.errors import Misconfigured
from service.history.model import OUR_GIT_DIR, Setup, shown
from service.history.objects import sync_folder, told

BRANCH: Final = "refs/heads/main"
_MARKER: Final = "strongroom"
_CONFIG: Final = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tautocrlf = false
\tlogallrefupdates = true
[gc]
\tauto = 0
"""
_ATTRIBUTES: Final = """# Notes are kept byte for byte: no rule in the vault changes what git writes out.
* -text !eol !filter !ident !working-tree-encoding
"""


def place(setup: Setup) -> tuple[Path, bool]:
    if setup.history_dir == "":
        return setup.state / OUR_GIT_DIR, True
    if setup.history_dir == ".git":
        return setup.vault / ".git", False
    named = Path(setup.history_dir)
    is_new = not named.exists() or (named.is_dir() and not any(named.iterdir()))
    return named, is_new or (named / _MARKER).is_file()


def make(path: Path) -> None:
    """Lay out our own directory, or what is missing of it; HEAD comes last, so that half a layout is no repository."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in ("objects/info", "objects/pack", "refs/heads", "info", "logs/refs/heads"):
            (path / folder).mkdir(parents=True, exist_ok=True)
        for name, content in (
            (_MARKER, "Made and kept by Strongroom; git may read it.\n"),
            ("config", _CONFIG),
            ("info/attributes", _ATTRIBUTES),
            ("description", "Strongroom: the history of a vault\n"),
            ("HEAD", f"ref: {BRANCH}\n"),
        ):
            _write_if_missing(path / name, content)
    except OSError as error:
        raise told(error) from error


def _write_if_missing(path: Path, content: str) -> None:
    try:
        if path.stat().st_size > 0:
            return
    except FileNotFoundError:
        pass
    temporary = path.with_name(path.name + ".new")
    with open(temporary, "w", encoding="utf-8", newline="") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.rename(temporary, path)
    sync_folder(path.parent)


def check_usable(path: Path) -> None:
    """Refuse a repository that we could damage or that could lead us elsewhere.

    Raises:
        Misconfigured: with what is wrong and what to do.
    """
    for name in ("", "objects", "refs"):
        part = path / name if name else path
        try:
            mode = os.lstat(part).st_mode
        except OSError as error:
            raise Misconfigured(
                f"STRONGROOM_HISTORY_DIR names {path}, which is no git directory ({error.strerror}: {part.name}); "
                "run git init there, or leave the setting empty."
            ) from error
        if not stat.S_ISDIR(mode):
            raise Misconfigured(
                f"{part} is a link or a file, not a folder; name the real git directory in STRONGROOM_HISTORY_DIR, or leave it empty."
            )
    if (path / "commondir").exists():
        raise Misconfigured(
            f"{path} is a linked worktree; name the main repository's git directory, or leave the setting empty."
        )
    _check_format(path)


def _check_format(path: Path) -> None:
    with open(path / "config", "rb") as file:
        config = ConfigFile.from_file(file, expand_includes=False)
    unusable = {
        "objectformat": (b"sha1",),
        "refstorage": (b"files",),
        "worktreeconfig": (b"false",),
    }
    for name, allowed in unusable.items():
        value = _config(config, "extensions", name)
        if value is not None and value.lower() not in allowed:
            used = f"extensions.{name} = {shown(value.decode('utf-8', 'replace'))}"
            raise Misconfigured(
                f"{path} uses {used}, which Strongroom cannot write; leave STRONGROOM_HISTORY_DIR empty."
            )
    if config.get_boolean(("core",), "sparsecheckout", False):
        raise Misconfigured(
            f"{path} has a sparse checkout, where missing files are not deleted ones; leave STRONGROOM_HISTORY_DIR empty."
        )


def _config(config: ConfigFile, section: str, name: str) -> bytes | None:
    try:
        return config.get((section,), name)
    except KeyError:
        return None
