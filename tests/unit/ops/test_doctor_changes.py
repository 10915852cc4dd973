"""Doctor says how the server keeps up with other programs, why, and what stands in the way (issue 6; search.md 5)."""

from __future__ import annotations

import errno
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from ops.checks import changes
from ops.checks.finding import Finding, Patient, Verdict
from service import settings as settings_
from service.store import fresh
from service.store.fresh import Choice, Mode
from service.store.inotify import Inotify
from tests.support.clock import HeldClock

from .conftest import House


def found(house: House, asked: str = "auto") -> Finding:
    clock = HeldClock(datetime(2026, 12, 1, tzinfo=UTC), ZoneInfo("UTC"))
    return changes.seen(Patient(replace(settings_.load(house.environ), freshness=asked), clock, house.environ))


@pytest.fixture(autouse=True)
def _folders(house: House) -> None:
    for name in ("x", "y", ".obsidian"):
        (house.vault / name).mkdir()


def on_nfs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the vault lie on a network share."""
    monkeypatch.setattr(fresh.Mounts, "text", lambda _self: "7 1 0:61 / /vault rw - nfs4 nas:/notes rw")
    monkeypatch.setattr(fresh, "mount_id", lambda _descriptor: 7)


def test_events_are_told_with_the_number_of_folders(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh, "choose", lambda *_asked: Choice(Mode.EVENTS, "ext4 tells of every change"))
    finding = found(house)
    assert finding.verdict is Verdict.OK
    assert "in 3 folders (ext4 tells of every change)" in finding.found


def test_a_limit_below_the_number_of_folders_is_told_with_the_command(
    house: House, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(fresh, "choose", lambda *_asked: Choice(Mode.EVENTS, "ext4 tells of every change"))
    (tmp_path / "limit").write_text("2\n")
    monkeypatch.setattr(changes, "_LIMIT", tmp_path / "limit")
    finding = found(house)
    assert finding.verdict is Verdict.WARN
    assert "watches 2 folders for a user, and the vault has 3" in finding.found
    assert "sysctl fs.inotify.max_user_watches=65536" in finding.todo


def test_a_network_share_is_told_as_slower_and_as_true(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    on_nfs(monkeypatch)
    finding = found(house)
    assert finding.verdict is Verdict.WARN
    assert "nfs4 does not tell of changes" in finding.found


def test_events_where_none_are_sent_are_warned_of(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6: overridable; honoured with a warning."""
    on_nfs(monkeypatch)
    finding = found(house, "events")
    assert finding.verdict is Verdict.WARN
    assert "although nfs4 may not tell" in finding.found
    assert "STRONGROOM_FRESHNESS=auto" in finding.todo


def test_looking_at_everything_because_the_owner_wants_it_is_fine(house: House) -> None:
    finding = found(house, "walk")
    assert finding.verdict is Verdict.OK
    assert "STRONGROOM_FRESHNESS=walk" in finding.found


def test_what_others_of_the_same_user_take_is_tried_and_told(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits count for all programs of a user together, so only trying tells."""

    def refuse(_self: Inotify, _folder: int) -> int:
        raise OSError(errno.EMFILE, "too many")

    monkeypatch.setattr(Inotify, "add", refuse)
    finding = found(house)
    assert finding.verdict is Verdict.WARN
    assert "watching does not work now" in finding.found
    assert "fs.inotify.max_user_instances" in finding.found
