"""A small vault with its history, a clock that stands still, and the git that everybody has, asked from outside."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from service.guards import paths
from service.history.history import History
from service.history.model import CommitReport, Deletions, Setup
from service.history.opening import opened
from service.vault.model import Actor, Change
from tests.support.clock import HeldClock

AUTHOR = "Ada <ada@example.org>"


@dataclass
class Timeline:
    """Where a test of history works. `git_dir` is wherever the setup puts it."""

    setup: Setup
    clock: HeldClock
    history: History

    @property
    def vault(self) -> Path:
        return self.setup.vault

    @property
    def git_dir(self) -> Path:
        return self.history.git.path

    def put(self, name: str | bytes, content: bytes | str = b"text\n") -> Path:
        """Write a file from outside."""
        path = self.vault / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    def commit(self, reason: str = "test", *, deletions: Deletions = Deletions.GUARD) -> CommitReport:
        """A full commit in this process; a second later by the clock."""
        self.clock.move(timedelta(seconds=1))
        return self.history.commit(reason, deletions=deletions, may_use_child=False)

    def write(self, who: str, name: str, content: bytes | None) -> None:
        """Change a file as a tool does: under the writer lock, told to the journal."""
        path = self.vault / name
        with self.history.locks.writer.writing():
            before = path.read_bytes() if path.is_file() else None
            if content is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                beside = path.with_name(f".syncthing.strongroom-{who}.tmp")
                beside.write_bytes(content)
                beside.rename(path)
            actor = Actor(f"id-{who}", who, permit=lambda: None)
            self.history.record(actor, [Change(paths.tracked(name), before, content)])

    def git(self, *words: str, check: bool = True) -> str:
        """What git prints, run on the git directory from outside."""
        return self.git_bytes(*words, check=check).decode("utf-8", "surrogateescape").rstrip("\n")

    def git_bytes(self, *words: str, check: bool = True) -> bytes:
        return run_git(["--git-dir", str(self.git_dir), *words], check=check)

    def at(self, name: str, revision: str = "HEAD") -> bytes | None:
        """A file's bytes as git has them at a revision, None when it is not there."""
        names = self.git("ls-tree", "-r", "-z", "--name-only", revision).split("\0")
        return self.git_bytes("cat-file", "blob", f"{revision}:{name}") if name in names else None

    def everything_at(self, revision: str = "HEAD") -> dict[str, bytes]:
        """Every file's bytes as git has them at a revision."""
        found: dict[str, bytes] = {}
        with tarfile.open(fileobj=io.BytesIO(self.git_bytes("archive", "--format=tar", revision))) as archive:
            for member in archive:
                if member.isfile():
                    held = archive.extractfile(member)
                    found[member.name] = b"" if held is None else held.read()
        return found

    def names(self, revision: str = "HEAD") -> set[str]:
        """Every path that git lists at a revision."""
        listed = self.git("ls-tree", "-r", "-z", "--name-only", revision)
        return set(listed.removesuffix("\0").split("\0")) - {""}

    def subjects(self) -> list[str]:
        """Subjects, newest first; none before the first commit."""
        return self.git("log", "--format=%s", check=False).splitlines()

    def commit_count(self) -> int:
        return len(self.subjects())

    def trailers(self, key: str) -> list[str]:
        """One trailer of every commit as git reads it, newest first, empty where there is none."""
        shown = self.git("log", f"--format=%x02%(trailers:key={key},valueonly,separator=%x2C)")
        return [value.strip() for value in shown.split("\x02")[1:]]

    def verify(self) -> None:
        """See that plain git finds nothing wrong, reads log and last commit, and checks out what the vault holds.

        Raises:
            AssertionError: with what differs.
        """
        assert self.git("fsck", "--strict", "--full", "--no-dangling") == ""
        assert self.git("log", "--format=%H").count("\n") + 1 == len(self.history.log.chain())
        assert self.git("show", "--stat", "--format=%H").startswith(self.history.log.chain()[0].id)
        with tempfile.TemporaryDirectory() as fresh:
            if self.names():  # git checks out nothing only with an error
                run_git(
                    ["--git-dir", str(self.git_dir), "--work-tree", fresh, "checkout", "-q", "-f", "HEAD", "--", "."]
                )
            assert contents(Path(fresh)) == {
                name: found for name, found in contents(self.vault).items() if name in self.names()
            }
        assert set(contents(self.vault)) >= self.names()


def contents(folder: Path) -> dict[str, tuple[bytes, bool]]:
    """Every regular file below a folder: its bytes, and whether its owner may execute it. `.git` is left out."""
    found: dict[str, tuple[bytes, bool]] = {}
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(here) / name
            if path.is_file() and not path.is_symlink():
                found[str(path.relative_to(folder))] = path.read_bytes(), bool(path.stat().st_mode & 0o100)
    return found


def run_git(words: Sequence[str], *, check: bool = True, cwd: Path | None = None) -> bytes:
    """Run git without the user's settings; with `check`, its failure is the test's.

    Raises:
        AssertionError: git is missing, or it failed.
    """
    trusted = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    quiet = {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
    }
    who = {f"GIT_{role}_{part}": "test@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    try:
        done = subprocess.run(
            ["git", "-c", "core.hooksPath=/dev/null", *words],
            env={**os.environ, **trusted, **quiet, **who},
            capture_output=True,
            check=False,
            cwd=cwd,
        )
    except FileNotFoundError as error:
        raise AssertionError("these tests need the git command: install git") from error
    assert done.returncode == 0 or not check, f"git {words}: {done.stderr.decode('utf-8', 'replace')}"
    return done.stdout


def setup_in(folder: Path, history_dir: str = "") -> Setup:
    """A setup over fresh folders below `folder`."""
    for name in ("vault", "state"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return Setup(folder / "vault", folder / "state", history_dir, AUTHOR, "vault: {summary}", 1_000_000)


@contextmanager
def timeline_in(folder: Path, history_dir: str = "", clock: HeldClock | None = None) -> Iterator[Timeline]:
    """History over the folders below `folder`, made when they are missing, opened as by a new process."""
    setup = setup_in(folder, history_dir)
    clock = clock or HeldClock.at("2026-03-01T12:00:00", "Europe/Berlin")
    with opened(setup, clock) as history:
        yield Timeline(setup, clock, history)


@contextmanager
def again(line: Timeline, **changed: object) -> Iterator[Timeline]:
    """The same vault, state and clock in a new `History`, as after a restart."""
    setup = replace(line.setup, **changed)  # type: ignore[arg-type]  # each test names a field of Setup
    with opened(setup, line.clock) as history:
        yield Timeline(setup, line.clock, history)
