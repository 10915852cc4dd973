"""The audit log: whole lines, for the owner alone, and nothing that a stranger does pushes out what the owner did."""

from __future__ import annotations

import errno
import fcntl
import json
import multiprocessing
import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from service.auth import audit as audit_
from service.auth.audit import FILE_NAME, OWNERS, TRAFFIC_NAME, Audit
from tests.support.clock import HeldClock

TOKEN = "srs_" + "A" * 43


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return Audit(tmp_path, HeldClock.at("2026-11-30T12:00:00"))


def events(audit: Audit) -> list[object]:
    return [line["event"] for line in audit.lines()]


def test_a_line_holds_time_event_and_facts_and_what_is_not_known_is_left_out(audit: Audit, tmp_path: Path) -> None:
    """auth.md 7.9: JSON lines in a 0600 file."""
    audit.note("grant", grant="abc234", client=None, write=True)
    (line,) = (tmp_path / FILE_NAME).read_bytes().splitlines()
    assert {name: value for name, value in json.loads(line).items() if name != "at"} == {
        "event": "grant",
        "grant": "abc234",
        "write": True,
    }
    assert json.loads(line)["at"].endswith("+00:00")


def test_words_from_outside_are_bounded_and_cannot_make_a_line_of_their_own(audit: Audit, tmp_path: Path) -> None:
    """attack 27: bidi and control characters, line ends, and a name of megabytes."""
    name = '\u202eevil\n{"event": "login_ok"}\u2028\x1b[2J' + "x" * 1_000_000
    audit.note("register", name=name)
    raw = (tmp_path / TRAFFIC_NAME).read_bytes()
    assert raw.isascii()
    assert raw.count(b"\n") == 1
    assert b"\x1b" not in raw
    assert len(raw) < 1000
    (line,) = audit.lines()
    assert line["name"] == name[:300]


def test_what_is_shaped_like_a_token_never_gets_in(audit: Audit, tmp_path: Path) -> None:
    """attack 84: a fence, should a caller ever hand one over."""
    audit.note("grant", name=f"token {TOKEN}", header=f"Bearer {TOKEN}")
    assert b"AAAA" not in (tmp_path / FILE_NAME).read_bytes()


def test_files_are_for_the_owner_alone_even_if_somebody_opened_them(audit: Audit, tmp_path: Path) -> None:
    """attack 85."""
    os.umask(os.umask(0))
    audit.note("grant")
    audit.note("register")
    (tmp_path / FILE_NAME).chmod(0o644)
    audit.note("grant")
    assert {oct((tmp_path / name).stat().st_mode & 0o777) for name in (FILE_NAME, TRAFFIC_NAME)} == {"0o600"}


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_of_ours_is_not_written_through_nor_read(kind: str, audit: Audit, tmp_path: Path) -> None:
    """attack 85: links are refused; a pipe without a reader would hang whoever opens it."""
    path, elsewhere = tmp_path / FILE_NAME, tmp_path / "elsewhere"
    elsewhere.write_text('{"at": "2026", "event": "x"}\n', encoding="utf-8")
    match kind:
        case "link":
            path.symlink_to(elsewhere)
        case "pipe":
            os.mkfifo(path)
        case _:
            path.mkdir()
    with capture_logs() as said:
        audit.note("grant", grant="abc234")
    assert [line["event"] for line in said] == ["audit.failed"]
    assert list(audit.lines()) == []
    assert elsewhere.read_text(encoding="utf-8").count("\n") == 1
    with pytest.raises(OSError, match=r".*"):
        audit.try_out()


def test_a_full_file_is_put_aside_and_the_oldest_goes(
    audit: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """auth.md 7.9: pruned by size."""
    monkeypatch.setattr(audit_, "MAX_BYTES", 1000)
    for number in range(100):
        audit.note("grant", number=number)
    kept = [line["number"] for line in audit.lines()]
    assert kept == list(range(int(str(kept[0])), 100)), "the newest, in order, without a gap"
    assert 20 < len(kept) < 60
    assert sorted(path.name for path in tmp_path.iterdir()) == [FILE_NAME, f"{FILE_NAME}.1", f"{FILE_NAME}.2"]
    assert all(path.stat().st_size <= 1000 for path in tmp_path.iterdir())


def test_a_stranger_who_fills_the_log_pushes_out_nothing_that_the_owner_did(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """auth.md 7.9: whoever stole a token must not be able to wash the traces away by failing often."""
    monkeypatch.setattr(audit_, "MAX_BYTES", 1000)
    audit.note("grant", grant="abc234")
    for event in ("login_fail", "register", "write", "refresh", "deny"):
        assert event not in OWNERS
        for _ in range(100):
            audit.note(event)
    assert "grant" in events(audit)


def _note_many(state: Path, who: int) -> None:
    audit_.MAX_BYTES = 20_000  # type: ignore[misc]  # in this process alone
    log = Audit(state, HeldClock.at("2026-11-30T12:00:00"))
    for number in range(200):
        log.note("grant", who=who, number=number)


def test_processes_that_write_and_rotate_at_once_lose_and_tear_no_line(tmp_path: Path) -> None:
    """The server and the commands share the file."""
    writers = [multiprocessing.get_context("spawn").Process(target=_note_many, args=(tmp_path, who)) for who in (1, 2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    found = [(line["who"], line["number"]) for line in Audit(tmp_path, HeldClock.at("2026-11-30T12:00:00")).lines()]
    assert len(found) == len(set(found)) == 400
    assert all([number for who, number in found if who == one] == list(range(200)) for one in (1, 2))


def test_half_a_line_that_a_kill_left_spoils_no_other(audit: Audit, tmp_path: Path) -> None:
    """A crash is an ordinary end."""
    audit.note("grant", number=1)
    with (tmp_path / FILE_NAME).open("ab") as file:
        file.write(b'{"at": "2026-11-30T12:00:00+00:00", "event": "gra')
    audit.note("grant", number=2)
    assert [line["number"] for line in audit.lines()] == [1, 2]


def test_a_full_disk_fails_no_request_and_leaves_no_half_line(
    audit: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log says so; what goes on goes on."""
    audit.note("grant", number=1)
    whole = (tmp_path / FILE_NAME).read_bytes()
    write = os.write

    def on_a_full_disk(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[:7])

    monkeypatch.setattr(audit_.os, "write", on_a_full_disk)
    with capture_logs() as said:
        audit.note("grant", number=2)
    assert (said[0]["event"], said[0]["error"]) == ("audit.failed", os.strerror(errno.ENOSPC))
    assert (tmp_path / FILE_NAME).read_bytes() == whole


def test_whoever_keeps_the_file_locked_stops_no_request(
    audit: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is stopped in the middle of a line must not stop the server."""
    monkeypatch.setattr(audit_, "_LOCK_WITHIN_S", 0.05)
    audit.note("grant", number=1)
    with (tmp_path / FILE_NAME).open("rb") as other, capture_logs() as said:
        fcntl.flock(other, fcntl.LOCK_EX)
        audit.note("grant", number=2)
    assert [line["event"] for line in said] == ["audit.failed"]
    assert [line["number"] for line in audit.lines()] == [1]
