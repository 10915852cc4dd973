"""`backup` and `restore-backup`: what was there comes back exactly, and a bad archive touches nothing."""

from __future__ import annotations

import hashlib
import io
import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ops import archive, collect, exits
from ops.__main__ import main
from ops.opened import opened
from service.auth import static, tables
from service.auth.audit import FILE_NAME, Audit
from service.auth.grants import Grants
from service.auth.passphrase import INITIAL_FILE
from service.auth.tokens import digest
from service.clock import SystemClock
from service.errors import Busy
from service.history import opening
from service.history.history import History
from service.history.model import Setup
from service.settings import load
from service.store import staging
from service.store.db import Database, Schema
from service.store.lock import Lock
from tests.support import unprivileged

from .conftest import House

HERE = Path(__file__).resolve().parents[3]
ODD_NAME = os.fsdecode(b"caf\xe9 \xff.md")
STAMP_NS = 1_600_000_000_123_456_789


def furnish(house: House) -> None:
    """A vault with everything that real ones hold, and a state with a database and a history."""
    for folder in (".obsidian", "Journal/2026", "empty", ".trash"):
        (house.vault / folder).mkdir(parents=True)
    (house.vault / "Start here.md").write_bytes(b"one\r\ntwo\r\n")
    (house.vault / "hyvää yötä.md").write_bytes("\ufeffyö\n".encode())
    (house.vault / ODD_NAME).write_bytes(b"\xff\x00")
    (house.vault / ".obsidian" / "app.json").write_bytes(b"{}")
    (house.vault / "Journal" / "2026" / "empty.md").write_bytes(b"")
    (house.vault / "run.sh").write_bytes(b"#!/bin/sh\n")
    (house.vault / "run.sh").chmod(0o755)
    (house.vault / "picture.png").write_bytes(os.urandom(3_000_000))
    (house.vault / "secret.md").write_bytes(b"mine\n")
    (house.vault / "secret.md").chmod(0o600)
    for path in house.vault.rglob("*"):
        if path.is_file():
            os.utime(path, ns=(STAMP_NS, STAMP_NS))
    (house.state / "history.git" / "objects" / "ab").mkdir(parents=True)
    (house.state / "history.git" / "HEAD").write_bytes(b"ref: refs/heads/main\n")
    (house.state / "history.git" / "objects" / "ab" / "cd").write_bytes(os.urandom(500))
    database = Database(house.state, [Schema("test", ["CREATE TABLE kept (word TEXT)"])])
    with database.transaction() as connection:
        connection.execute("INSERT INTO kept VALUES ('alive')")
    database.close()


def picture(root: Path) -> dict[str, tuple[str, int, int]]:
    """Every file and folder below `root`: SHA-256, mode and time (of files)."""
    seen = {}
    for path in sorted(root.rglob("*")):
        if path.name.endswith((".lock", ".next", "-wal", "-shm", ".db")):
            continue
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        seen[str(path.relative_to(root))] = (content, stat.S_IMODE(status.st_mode), status.st_mtime_ns)
    return seen


def backup(tmp_path: Path, name: str = "backup.tar") -> Path:
    file = tmp_path / name
    assert main(["backup", str(file)]) == exits.OK
    return file


def restore(file: Path, tmp_path: Path, *more: str) -> int:
    return main(
        ["restore-backup", str(file), "--to-vault", str(tmp_path / "v2"), "--to-state", str(tmp_path / "s2"), *more]
    )


# -- there and back ---------------------------------------------------------------------------------------------------


def test_everything_comes_back_byte_for_byte_with_modes_and_times(house: House, tmp_path: Path) -> None:
    furnish(house)
    assert restore(backup(tmp_path), tmp_path) == exits.OK
    assert picture(tmp_path / "v2") == picture(house.vault)
    assert picture(tmp_path / "s2").keys() == picture(house.state).keys()
    assert (tmp_path / "s2" / "history.git" / "HEAD").read_bytes() == b"ref: refs/heads/main\n"


def test_the_database_comes_back_with_what_was_still_in_its_wal(house: House, tmp_path: Path) -> None:
    """A plain copy of the file would miss it."""
    furnish(house)
    running = sqlite3.connect(house.state / "strongroom.db", isolation_level=None)
    running.execute("PRAGMA wal_autocheckpoint=0")
    running.execute("INSERT INTO kept VALUES ('in the wal')")
    file = backup(tmp_path)
    running.close()
    assert restore(file, tmp_path) == exits.OK
    database = Database(tmp_path / "s2", [Schema("test", ["CREATE TABLE kept (word TEXT)"])])
    words = [row["word"] for row in database.connection().execute("SELECT word FROM kept")]
    database.close()
    assert words == ["alive", "in the wal"]
    assert stat.S_IMODE((tmp_path / "s2" / "strongroom.db").stat().st_mode) == 0o600


def test_state_is_private_after_restoring_whatever_the_archive_says(house: House, tmp_path: Path) -> None:
    furnish(house)
    (house.state / "history.git" / "HEAD").chmod(0o666)
    assert restore(backup(tmp_path), tmp_path) == exits.OK
    for path in (tmp_path / "s2").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_fresh_state_folder_that_is_open_to_others_is_closed(house: House, tmp_path: Path) -> None:
    """A bind mount that an engine made is 0755, and the server refuses an open state that holds a database."""
    furnish(house)
    (tmp_path / "s2").mkdir(mode=0o755)
    assert restore(backup(tmp_path), tmp_path) == exits.OK
    assert stat.S_IMODE((tmp_path / "s2").stat().st_mode) == 0o700


def test_links_and_special_files_are_left_out_and_told(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    furnish(house)
    (house.vault / "link.md").symlink_to("/etc/passwd")
    (house.vault / "folder link").symlink_to("/etc")
    os.mkfifo(house.vault / "pipe")
    assert main(["backup", str(tmp_path / "b.tar"), "--json"]) == exits.OK
    told = json.loads(capsys.readouterr().out)
    assert told["links_left_out"] == ["vault/folder link", "vault/link.md", "vault/pipe"]
    assert restore(tmp_path / "b.tar", tmp_path) == exits.OK
    assert not any(os.path.lexists(tmp_path / "v2" / name) for name in ("link.md", "folder link", "pipe"))


def test_what_is_left_out_is_named_and_the_owners_door_is_no_special_file(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/how-to/back-up.md: they are named at the end. A running server's socket is made again, and nothing to tell."""
    furnish(house)
    for number in range(7):
        (house.vault / f"link {number}").symlink_to("/etc/passwd")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(house.state / "strongroom.sock"))
        assert main(["backup", str(tmp_path / "b.tar")]) == exits.OK
    told = capsys.readouterr().err
    assert "left out, being links or special files: vault/link 0, vault/link 1," in told
    assert "vault/link 4 and 2 more" in told
    assert "sock" not in told


def test_a_history_in_a_folder_of_its_own_is_part_of_the_backup(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.git").mkdir()
    (tmp_path / "own.git" / "HEAD").write_bytes(b"ref: refs/heads/main\n")
    monkeypatch.setenv("STRONGROOM_HISTORY_DIR", str(tmp_path / "own.git"))
    file = backup(tmp_path)
    monkeypatch.setenv("STRONGROOM_HISTORY_DIR", str(tmp_path / "new.git"))
    assert restore(file, tmp_path) == exits.OK
    assert picture(tmp_path / "new.git").keys() == {"HEAD"}


def test_the_same_content_gives_the_same_entries_in_the_same_order(house: House, tmp_path: Path) -> None:
    furnish(house)
    listings = []
    for name in ("one.tar", "two.tar"):
        with tarfile.open(backup(tmp_path, name)) as tar:
            listings.append([(m.name, m.size, m.mode, m.mtime, m.uid, m.gid, m.uname) for m in tar][:-1])
    assert [row for row in listings[0] if row[0] != "state"] == [row for row in listings[1] if row[0] != "state"]
    names = [row[0] for row in listings[0]]  # opening the database changes the time of the folder it is in
    assert names[0] == archive.README
    assert names[1] == "vault"


def test_a_version_that_waits_for_its_exchange_comes_along_and_what_is_worth_nothing_does_not(
    house: House, tmp_path: Path
) -> None:
    """After a kill it may be the only copy; the sweep at start settles it (store/leftovers.py)."""
    furnish(house)
    aside, part = staging.aside_name(b"old", b"new"), staging.part_name()
    (house.vault / aside).write_bytes(b"somebody's words")
    (house.vault / part).write_bytes(b"half")
    os.link(house.vault / "secret.md", house.vault / staging.guard_name())
    (house.state / "history.seen").write_bytes(b"made again")
    assert restore(backup(tmp_path), tmp_path) == exits.OK
    ours = [path.name for path in (tmp_path / "v2").iterdir() if path.name.startswith(staging.PREFIX)]
    assert ours == [aside]
    assert not (tmp_path / "s2" / "history.seen").exists()


def test_the_audit_log_comes_along_and_a_passphrase_in_clear_does_not(house: House, tmp_path: Path) -> None:
    """auth.md 7.9; attack 84: an archive is copied about."""
    Audit(house.state, SystemClock(ZoneInfo("UTC"))).note("grant", grant="abc234")
    (house.state / INITIAL_FILE).write_text("seven words\n", encoding="ascii")
    assert main(["backup", str(tmp_path / "b.tar")]) == exits.OK
    with archive.verified(tmp_path / "b.tar") as whole:
        assert b'"grant":"abc234"' in b"".join(whole.pieces(f"state/{FILE_NAME}"))
        assert f"state/{INITIAL_FILE}" not in whole.manifest.entries


def test_any_tar_can_unpack_it(house: House, tmp_path: Path) -> None:
    """The README in the archive says so."""
    furnish(house)
    file = backup(tmp_path)
    (tmp_path / "by hand").mkdir()
    subprocess.run(["tar", "-xf", str(file), "-C", str(tmp_path / "by hand")], check=True, timeout=30)
    assert (tmp_path / "by hand" / "vault" / "Start here.md").read_bytes() == b"one\r\ntwo\r\n"
    assert "restore-backup" in (tmp_path / "by hand" / archive.README).read_text(encoding="utf-8")


def test_the_archive_is_private_and_leaves_no_temporary_file(house: House, tmp_path: Path) -> None:
    furnish(house)
    file = backup(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.tar", "state", "vault"]


def test_a_backup_to_standard_output_is_the_archive_and_nothing_else(house: House, tmp_path: Path) -> None:
    """`docker exec strongroom strongroom backup - > backup.tar`: a read-only container has no other way out."""
    furnish(house)
    with (tmp_path / "b.tar").open("wb") as file:
        result = subprocess.run(
            [sys.executable, "-m", "ops", "backup", "-"],
            cwd=HERE,
            env=os.environ | house.environ,
            stdout=file,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert result.returncode == exits.OK
    assert b"not read back" in result.stderr
    assert restore(tmp_path / "b.tar", tmp_path) == exits.OK
    assert picture(tmp_path / "v2") == picture(house.vault)


def test_tokens_and_history_live_on_in_the_restored_house(house: House, tmp_path: Path) -> None:
    """Issue 2: restore on a new, empty machine. Nothing changed, so there is nothing to commit there."""
    clock = SystemClock(ZoneInfo("UTC"))
    (house.vault / "note.md").write_bytes(b"one\n")
    with history_of(house.vault, house.state) as history:
        history.commit("first")
        (house.vault / "note.md").write_bytes(b"two\r\n")
        history.commit("second")
        chain = [link.id for link in history.log.chain()]
    database = Database(house.state, [tables.SCHEMA])
    _, token = static.create(Grants(database, clock), "laptop", is_read_only=False, days=None)
    database.close()
    assert restore(backup(tmp_path), tmp_path) == exits.OK
    with history_of(tmp_path / "v2", tmp_path / "s2") as history:
        assert history.commit("look").commits == ()
        assert [link.id for link in history.log.chain()] == chain
        assert history.log.read("note.md", chain[1]).data == b"one\n"
    database = Database(tmp_path / "s2", [tables.SCHEMA])
    found = Grants(database, clock).find(digest(token))
    database.close()
    assert found is not None
    assert found.name == "laptop"


def history_of(vault: Path, state: Path) -> AbstractContextManager[History]:
    settings = load({"STRONGROOM_VAULT": str(vault), "STRONGROOM_STATE": str(state), "TZ": "UTC"})
    return opening.opened(Setup.of(settings), SystemClock(settings.zone))


# -- while others work ------------------------------------------------------------------------------------------------


def write_while(house: House, file: Path, meanwhile: Callable[[], None]) -> collect.Result:
    """Make a backup, and do `meanwhile` once, when its first MB is written."""
    done = 0

    def progress(size: int) -> None:
        nonlocal done
        if done < 1_000_000 <= done + size:
            meanwhile()
        done += size

    with opened(house.environ) as parts, file.open("wb") as stream:
        return collect.write(parts, stream, 1.0, progress)


def test_what_changes_while_it_is_written_is_in_it_as_it_is_at_the_end(house: House, tmp_path: Path) -> None:
    furnish(house)

    def meanwhile() -> None:
        (house.vault / "Start here.md").write_bytes(b"three\n")  # written already
        (house.vault / "picture.png").write_bytes(b"small now")  # being written: shorter than its header says
        (house.vault / "hyvää yötä.md").unlink()
        (house.vault / "run.sh").rename(house.vault / "Archive.sh")  # behind the walk
        (house.vault / "new").mkdir()
        (house.vault / "new" / "note.md").write_bytes(b"new\n")
        (house.state / "history.git" / "refs").write_bytes(b"later\n")

    result = write_while(house, tmp_path / "b.tar", meanwhile)
    assert result.unsteady == ()
    assert restore(tmp_path / "b.tar", tmp_path) == exits.OK
    assert picture(tmp_path / "v2") == picture(house.vault)
    assert (tmp_path / "s2" / "history.git" / "refs").read_bytes() == b"later\n"


def test_a_file_that_never_holds_still_is_told_and_does_not_hold_up_the_backup(house: House, tmp_path: Path) -> None:
    furnish(house)
    grown = house.vault / "log.txt"
    grown.write_bytes(b"x" * 100_000)

    def progress(_: int) -> None:
        with grown.open("ab") as file:
            file.write(b"y" * 1000)

    with opened(house.environ) as parts, (tmp_path / "b.tar").open("wb") as stream:
        result = collect.write(parts, stream, 1.0, progress)
    assert result.unsteady == ("vault/log.txt",)
    assert restore(tmp_path / "b.tar", tmp_path) == exits.OK


def test_the_last_round_holds_both_locks(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    furnish(house)
    seen: list[str] = []
    real = collect._snapshot

    def snapshot(path: Path) -> bytes:
        for name in ("writer.lock", "history.lock"):
            with pytest.raises(Busy), Lock(house.state / name, name).writing(timeout_s=0):
                pass
            seen.append(name)
        return real(path)

    monkeypatch.setattr(collect, "_snapshot", snapshot)
    backup(tmp_path)
    assert seen == ["writer.lock", "history.lock"]


def test_a_lock_that_is_not_given_back_ends_the_backup_and_leaves_nothing(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ops.backup.LOCK_TIMEOUT_S", 0.05)
    with Lock(house.state / "history.lock", "x").writing():
        assert main(["backup", str(tmp_path / "b.tar")]) == exits.UNAVAILABLE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state", "vault"]
    assert "the history is in use" in capsys.readouterr().err


# -- what backup refuses ----------------------------------------------------------------------------------------------


def test_an_existing_file_is_never_overwritten(house: House, tmp_path: Path) -> None:
    (tmp_path / "b.tar").write_bytes(b"precious")
    assert main(["backup", str(tmp_path / "b.tar")]) == exits.CONFLICT
    assert (tmp_path / "b.tar").read_bytes() == b"precious"


def test_a_file_that_appears_meanwhile_is_not_overwritten(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = collect.write

    def write(*arguments: object) -> collect.Result:
        (tmp_path / "b.tar").write_bytes(b"precious")
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(collect, "write", write)
    assert main(["backup", str(tmp_path / "b.tar")]) == exits.CONFLICT
    assert (tmp_path / "b.tar").read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.tar", "state", "vault"]


@pytest.mark.parametrize("folder", ["vault", "state", "vault/deep"])
def test_a_backup_into_what_it_backs_up_is_refused(
    folder: str, house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (house.vault / "deep").mkdir()
    assert main(["backup", str(tmp_path / folder / "b.tar")]) == exits.REFUSED
    assert "would hold itself" in capsys.readouterr().err


def test_a_full_disk_is_said_so_and_leaves_nothing(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> collect.Result:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(collect, "write", full)
    assert main(["backup", str(tmp_path / "b.tar")]) == exits.UNAVAILABLE
    assert "the disk that holds the backup is full" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state", "vault"]


def test_a_full_disk_behind_standard_output_is_said_so_too(house: House) -> None:
    furnish(house)
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            [sys.executable, "-m", "ops", "backup", "-"],
            cwd=HERE,
            env=os.environ | house.environ,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert result.returncode == exits.UNAVAILABLE
    assert b"the disk that holds the backup is full" in result.stderr


def test_a_backup_that_is_ended_by_sigterm_leaves_nothing(house: House, tmp_path: Path) -> None:
    furnish(house)
    with (
        Lock(house.state / "writer.lock", "x").writing(),
        subprocess.Popen(
            [sys.executable, "-m", "ops", "backup", str(tmp_path / "b.tar")],
            cwd=HERE,
            env=os.environ | house.environ,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob(".b.tar.*")) and time.monotonic() < deadline:
            threading.Event().wait(0.01)
        assert list(tmp_path.glob(".b.tar.*"))
        process.terminate()
        assert process.wait(timeout=30) == exits.TERMINATED
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state", "vault"]


def test_a_missing_vault_is_no_empty_backup(house: House, tmp_path: Path) -> None:
    house.vault.rmdir()
    assert main(["backup", str(tmp_path / "b.tar")]) == exits.MISCONFIGURED
    assert not (tmp_path / "b.tar").exists()


def test_a_damaged_database_is_not_backed_up_as_if_it_were_sound(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    furnish(house)
    with (house.state / "strongroom.db").open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(4096))
    assert main(["backup", str(tmp_path / "b.tar")]) == exits.MISCONFIGURED
    assert "damaged" in capsys.readouterr().err


def test_what_cannot_be_read_is_named_and_the_code_says_so(house: House, tmp_path: Path) -> None:
    furnish(house)
    backup(tmp_path, "first.tar")  # imports what it needs
    (house.vault / "secret.md").chmod(0)
    (house.vault / "shut").mkdir(mode=0)
    unprivileged.give(unprivileged.STRANGER, tmp_path)
    ended = unprivileged.run(lambda: main(["backup", str(tmp_path / "b.tar"), "--json"]))
    (house.vault / "shut").chmod(0o755)
    assert ended.code == exits.CHECK_FAILED, ended.err
    assert json.loads(ended.out)["unreadable"] == ["vault/secret.md", "vault/shut"]
    assert "missing in the backup: vault/secret.md" in ended.err


# -- what restore-backup refuses --------------------------------------------------------------------------------------


@pytest.fixture
def sound(house: House, tmp_path: Path) -> Path:
    furnish(house)
    return backup(tmp_path)


def is_untouched(tmp_path: Path) -> bool:
    return not (tmp_path / "v2").exists() and not (tmp_path / "s2").exists()


def test_checking_touches_nothing(sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert restore(sound, tmp_path, "--check", "--json") == exits.OK
    told = json.loads(capsys.readouterr().out)
    assert (told["unpacked"], told["files"]) == (False, 11)
    assert is_untouched(tmp_path)


def test_a_missing_archive_is_not_found(house: House, tmp_path: Path) -> None:
    assert restore(tmp_path / "gone.tar", tmp_path) == exits.NOT_FOUND


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_an_archive_cut_short_is_refused_before_anything_is_touched(part: float, sound: Path, tmp_path: Path) -> None:
    data = sound.read_bytes()
    content = data.rstrip(b"\0")
    sound.write_bytes(content[: int(len(content) * part)])
    assert restore(sound, tmp_path) == exits.REFUSED
    assert is_untouched(tmp_path)


@hypothesis_settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_flipped_bit_anywhere_is_refused_or_changes_nothing(data: st.DataObject, sound: Path, tmp_path: Path) -> None:
    """Whatever is accepted holds exactly the bytes that were backed up."""
    whole = bytearray(sound.read_bytes())
    with archive.verified(sound) as found:
        manifest = found.manifest
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= 1 << data.draw(st.integers(0, 7))
    (tmp_path / "flipped.tar").write_bytes(whole)
    accepted = None
    try:
        with archive.verified(tmp_path / "flipped.tar") as found:
            accepted = {name: entry.sha256 for name, entry in found.manifest.entries.items()}
    except archive.Damaged as refusal:
        assert "Nothing was unpacked" in str(refusal)  # noqa: PT017  # either outcome is right
    assert accepted in (None, {name: entry.sha256 for name, entry in manifest.entries.items()})


@given(st.binary(max_size=3000))
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_bytes_at_all_are_refused_in_one_sentence(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "any.tar").write_bytes(data)
    with pytest.raises(archive.Damaged), archive.verified(tmp_path / "any.tar"):
        pass


def hostile(path: Path, members: list[tarfile.TarInfo], **manifest: object) -> None:
    """An archive whose manifest agrees with its members, whatever they are."""
    entries: dict[str, object] = {}
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for member in members:
            data = b"x" * member.size
            digest = hashlib.sha256(data).hexdigest() if member.isreg() else ""
            entries[member.name] = {"sha256": digest, "size_bytes": member.size, "mode": 0o644, "mtime_ns": 0}
            tar.addfile(member, io.BytesIO(data))
        whole = {"format": 1, "version": "0", "made": "now", "left_out": [], "entries": entries} | manifest
        text = json.dumps(whole).encode()
        last = tarfile.TarInfo(archive.MANIFEST)
        last.size = len(text)
        tar.addfile(last, io.BytesIO(text))


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, size
    return info


FOLDER = tarfile.DIRTYPE


@pytest.mark.parametrize(
    "members",
    [
        [member("../outside.md")],
        [member("/etc/cron.d/x")],
        [member("vault", FOLDER), member("vault/../../outside.md")],
        [member("vault", FOLDER), member("vault/./a.md")],
        [member("vault", FOLDER), member("vault//a.md")],
        [member("elsewhere", FOLDER), member("elsewhere/a.md")],
        [member("vault", FOLDER), member("vault/link", tarfile.SYMTYPE, "/etc")],
        [member("vault", FOLDER), member("vault/link", tarfile.LNKTYPE, "vault/a.md")],
        [member("vault", FOLDER), member("vault/null", tarfile.CHRTYPE)],
        [member("vault", FOLDER), member("vault/pipe", tarfile.FIFOTYPE)],
        [member("vault/a.md")],
        [member("vault", FOLDER), member("vault/a", size=1), member("vault/a/b.md")],
        [member("vault", FOLDER), member("vault/" + "n" * 256)],
        [member("vault")],
    ],
    ids=lambda members: members[-1].name[:24] + members[-1].type.decode(),
)
def test_a_hostile_archive_is_refused_before_anything_is_touched(
    members: list[tarfile.TarInfo], house: House, tmp_path: Path
) -> None:
    hostile(tmp_path / "bad.tar", members)
    assert restore(tmp_path / "bad.tar", tmp_path) == exits.REFUSED
    assert is_untouched(tmp_path)
    assert not (tmp_path / "outside.md").exists()


def test_a_sparse_file_that_claims_to_be_huge_is_refused_at_once(house: House, tmp_path: Path) -> None:
    """PAX GNU.sparse: eight bytes in the archive, eight exabytes to hash."""
    sparse = member("vault/a.md", size=8)
    sparse.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.map": "0,8",
        "GNU.sparse.size": str(1 << 62),
    }
    hostile(tmp_path / "bad.tar", [member("vault", FOLDER), sparse])
    assert restore(tmp_path / "bad.tar", tmp_path) == exits.REFUSED


@pytest.mark.parametrize(
    "manifest",
    [
        {"format": 2},
        {"entries": []},
        {"entries": {"vault": {}}},
        {"entries": {"vault": {"sha256": "", "size_bytes": 0, "mode": 0, "mtime_ns": 1 << 70}}},
        {"entries": {"vault": None}},
        {"entries": {}},
        {"left_out": 3},
    ],
)
def test_a_manifest_that_is_none_of_ours_is_refused(manifest: dict[str, object], house: House, tmp_path: Path) -> None:
    hostile(tmp_path / "bad.tar", [member("vault", FOLDER)], **manifest)
    assert restore(tmp_path / "bad.tar", tmp_path) == exits.REFUSED
    assert is_untouched(tmp_path)


@pytest.mark.parametrize("full", ["v2", "s2"])
def test_a_folder_that_is_not_empty_is_refused_untouched(
    full: str, sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / full).mkdir()
    (tmp_path / full / "mine.md").write_bytes(b"mine")
    assert restore(sound, tmp_path) == exits.CONFLICT
    assert "--overwrite" in capsys.readouterr().err
    contents = [path.name for path in (tmp_path / full).iterdir() if ".lock" not in path.name]
    assert contents == ["mine.md"]


def test_overwrite_replaces_what_the_archive_knows_and_keeps_the_rest(
    sound: Path, house: House, tmp_path: Path
) -> None:
    (tmp_path / "v2").mkdir()
    (tmp_path / "v2" / "mine.md").write_bytes(b"mine")
    (tmp_path / "v2" / "Start here.md").write_bytes(b"old")
    (tmp_path / "s2").mkdir()
    (tmp_path / "s2" / "strongroom.db-wal").write_bytes(b"of another database")
    assert restore(sound, tmp_path, "--overwrite") == exits.OK
    after = picture(tmp_path / "v2")
    assert after.pop("mine.md")[0] == hashlib.sha256(b"mine").hexdigest()
    assert after == picture(house.vault)
    assert not (tmp_path / "s2" / "strongroom.db-wal").exists()


@pytest.mark.parametrize("planted", ["Journal", "Journal/2026", "Start here.md"])
def test_overwrite_never_writes_through_a_link(
    planted: str, sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "Start here.md").write_bytes(b"not yours")
    link = tmp_path / "v2" / planted
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "outside" / link.name if planted.endswith(".md") else tmp_path / "outside")
    code = restore(sound, tmp_path, "--overwrite")
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["Start here.md"]
    assert (tmp_path / "outside" / "Start here.md").read_bytes() == b"not yours"
    assert code == (exits.OK if planted.endswith(".md") else exits.CONFLICT)  # a file's name is simply taken over


def test_a_running_server_on_that_state_is_in_the_way(
    sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s2").mkdir()
    with Lock(tmp_path / "s2" / "server.lock", "x").writing():
        assert restore(sound, tmp_path) == exits.UNAVAILABLE
    assert "stop it first" in capsys.readouterr().err
    assert list((tmp_path / "v2").iterdir()) == []


@pytest.mark.parametrize("shut", ["v2", "s2"])
def test_a_folder_that_cannot_be_written_is_told_with_its_owner_before_anything_is_unpacked(
    shut: str, sound: Path, tmp_path: Path
) -> None:
    assert restore(sound, tmp_path, "--check") == exits.OK
    for name in ("v2", "s2"):
        (tmp_path / name).mkdir()
    unprivileged.give(unprivileged.STRANGER, tmp_path)
    (tmp_path / shut).chmod(0o500)
    ended = unprivileged.run(lambda: restore(sound, tmp_path))
    assert ended.code == exits.MISCONFIGURED, ended.err
    assert "mode 0500" in ended.err
    assert [path for name in ("v2", "s2") for path in (tmp_path / name).iterdir()] == []


def test_vault_and_state_in_one_another_are_refused(sound: Path, tmp_path: Path) -> None:
    one = str(tmp_path / "v2")
    assert main(["restore-backup", str(sound), "--to-vault", one, "--to-state", f"{one}/state"]) == exits.REFUSED
    assert is_untouched(tmp_path)


def test_the_owner_is_told_that_revoked_tokens_live_again(
    sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert restore(sound, tmp_path) == exits.OK
    assert "revoke again" in capsys.readouterr().err
