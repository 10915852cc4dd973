"""`strongroom doctor`: every check can say FAIL (each is made to here), says what it means and what to do."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sqlite3
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from ops import doctor, exits
from ops.__main__ import main
from ops.checks import past, places, plugins, running, vault
from ops.checks.finding import Check, Finding, Patient, Verdict
from service import settings as settings_
from service.guards import paths
from service.history import opening
from service.history.model import Setup
from service.store import db, staging
from service.store.db import Database
from service.store.files import VaultFiles
from service.store.journal import FILE_NAME, Before, Journal, Record, Renamed
from service.store.lock import Holder, Lock
from service.store.root import Root
from tests.support import unprivileged
from tests.support.clock import HeldClock
from tests.support.kernels import WEAKER, RefusingKernel

from .conftest import House

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def patient(house: House, now: datetime = NOW, **changes: object) -> Patient:
    settings = replace(settings_.load(house.environ), **changes)  # type: ignore[arg-type]
    return Patient(settings, HeldClock(now, ZoneInfo("UTC")), house.environ)


def committed(house: House, now: datetime = NOW) -> None:
    """Commit what is in the vault."""
    with opening.opened(Setup.of(settings_.load(house.environ)), HeldClock(now, ZoneInfo("UTC"))) as history:
        history.commit("test")


def fails(finding: Finding, words: str) -> None:
    assert finding.verdict is Verdict.FAIL, finding
    assert words in finding.found, finding
    assert finding.means
    assert finding.todo


def warns(finding: Finding, words: str) -> None:
    assert finding.verdict is Verdict.WARN, finding
    assert words in finding.found, finding
    assert finding.means
    assert finding.todo


@pytest.fixture
def furnished(house: House) -> House:
    (house.vault / "Start here.md").write_bytes(b"one\n")
    (house.vault / "Journal").mkdir()
    (house.vault / "Journal" / "2026-11-30.md").write_bytes(b"two\n")
    return house


# -- the whole --------------------------------------------------------------------------------------------------------


def test_every_check_has_a_name_and_they_come_in_the_issues_order() -> None:
    """Issue 2: a list of named checks in order."""
    names = [name for name, _ in doctor.checks()]
    assert names[:11] == [
        "vault there",
        "vault readable",
        "vault writable",
        "file system and locks",
        "state private",
        "history",
        "scheduler",
        "port",
        "clock and zone",
        "settings",
        "leftovers",
    ]
    assert len(set(names)) == len(names)


def test_a_sound_house_without_a_server_has_no_fail_and_exit_code_0(
    furnished: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRONGROOM_PORT", str(free_port()))
    monkeypatch.setenv("TZ", "Europe/Berlin")
    committed(furnished, datetime.now(UTC))
    before = sorted(furnished.vault.rglob("*"))
    assert main(["doctor", "--json"]) == exits.OK
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is True
    assert [check["name"] for check in told["checks"]] == [name for name, _ in doctor.checks()]
    assert {check["name"]: check["verdict"] for check in told["checks"]} == {
        name: "warn" if name in ("scheduler", "file system and locks") and not is_ok(told, name) else "ok"
        for name, _ in doctor.checks()
    }
    assert sorted(furnished.vault.rglob("*")) == before


def is_ok(told: dict[str, list[dict[str, str]]], name: str) -> bool:
    return next(check["verdict"] for check in told["checks"] if check["name"] == name) == "ok"


def test_one_fail_makes_the_exit_code_1_and_people_read_what_to_do(
    furnished: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRONGROOM_PORT", str(free_port()))
    furnished.vault.rename(furnished.vault.with_name("lost"))
    assert main(["doctor"]) == exits.CHECK_FAILED
    shown = capsys.readouterr()
    assert "FAIL  vault there" in " ".join(shown.out.split(" ")).replace("   ", "  ")
    assert "What to do: mount the folder of notes there" in shown.out
    assert "FAIL" in shown.err


def test_settings_that_cannot_be_read_are_the_only_finding(
    house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRONGROOM_PORT", "x")
    monkeypatch.setenv("STRONGROOM_VALUT", "/x")
    assert main(["doctor", "--json"]) == exits.CHECK_FAILED
    (check,) = json.loads(capsys.readouterr().out)["checks"]
    assert (check["name"], check["verdict"]) == ("settings", "FAIL")
    assert "STRONGROOM_PORT" in check["found"]
    assert "STRONGROOM_VALUT" in check["found"]


def test_a_check_that_stumbles_is_a_fail_and_the_others_go_on(furnished: House) -> None:
    def stumble(_: Patient) -> Finding:
        raise PermissionError(13, "Permission denied", "/state/strongroom.db")

    fails(doctor._done(stumble, patient(furnished)), "/state/strongroom.db: Permission denied")


# -- the vault --------------------------------------------------------------------------------------------------------


def test_vault_there(furnished: House) -> None:
    assert vault.is_there(patient(furnished)).found == f"{furnished.vault}: 2 notes, 2 files"
    furnished.vault.rename(furnished.vault.with_name("lost"))
    fails(vault.is_there(patient(furnished)), "there is no folder")


def test_a_vault_without_notes_is_worth_a_look(house: House) -> None:
    """Complaint 38: an iCloud vault lists no notes."""
    (house.vault / ".Note.md.icloud").touch()
    warns(vault.is_there(patient(house)), "holds no notes (1 other files)")


def as_stranger(check: Check, house: House) -> Finding:
    """A check's finding for a user without rights."""
    check(patient(house))  # whatever it imports
    outcome = house.vault.parent / "outcome.json"
    outcome.touch()
    outcome.chmod(0o666)

    def work() -> int:
        found = check(patient(house))
        outcome.write_text(json.dumps([found.verdict, found.found, found.means, found.todo]), encoding="utf-8")
        return 0

    ended = unprivileged.run(work)
    assert ended.code == 0, ended.err
    verdict, *words = json.loads(outcome.read_text(encoding="utf-8"))
    return Finding(Verdict(verdict), *words)


def test_vault_readable(furnished: House) -> None:
    assert vault.is_readable(patient(furnished)).verdict is Verdict.OK
    unprivileged.give(unprivileged.STRANGER, furnished.vault.parent)
    (furnished.vault / "Start here.md").chmod(0)
    (furnished.vault / "Journal").chmod(0)
    found = as_stranger(vault.is_readable, furnished)
    (furnished.vault / "Journal").chmod(0o755)
    fails(found, "'Journal', 'Start here.md' cannot be read")


def test_vault_writable(furnished: House) -> None:
    assert vault.is_writable(patient(furnished)).verdict is Verdict.OK
    unprivileged.give(0, furnished.vault.parent)
    unprivileged.give(unprivileged.STRANGER, furnished.vault.parent)
    furnished.vault.chmod(0o555)
    found = as_stranger(vault.is_writable, furnished)
    furnished.vault.chmod(0o755)
    fails(found, "cannot be used by user 54321" if os.geteuid() == 0 else "cannot be used by user")
    assert "run as its owner" in found.todo


def test_a_vault_that_may_not_be_written_is_fine_when_writing_is_off(furnished: House) -> None:
    unprivileged.give(unprivileged.STRANGER, furnished.vault.parent)
    furnished.vault.chmod(0o555)
    found = as_stranger(lambda _: vault.is_writable(patient(furnished, is_read_only=True)), furnished)
    furnished.vault.chmod(0o755)
    assert found.verdict is Verdict.OK


def test_leftovers(furnished: House) -> None:
    (furnished.vault / "Journal" / staging.part_name()).touch()
    at = NOW.timestamp()
    for path in furnished.vault.rglob(f"{staging.PREFIX}*"):
        os.utime(path, (at, at))
    assert vault.leftovers(patient(furnished)).verdict is Verdict.OK  # a write may be under way
    fails(vault.leftovers(patient(furnished, NOW + timedelta(minutes=5))), "left behind by a write that was killed")


def test_a_change_of_several_files_that_was_cut_short(furnished: House) -> None:
    record = Record(
        (Before(paths.tracked("a.md"), b"x", "0" * 64),), (Renamed(paths.tracked("a.md"), paths.tracked("b.md")),)
    )
    Journal(furnished.state).write(record)
    os.utime(furnished.state / FILE_NAME, (NOW.timestamp(), NOW.timestamp()))
    assert vault.leftovers(patient(furnished)).verdict is Verdict.OK  # it may be under way
    fails(vault.leftovers(patient(furnished, NOW + timedelta(minutes=5))), "was cut short and could not be taken back")


@pytest.mark.parametrize(
    ("make", "check", "words"),
    [
        (lambda place: (place / "a.md").symlink_to("/etc/passwd"), vault.links, "'a.md' (symbolic links)"),
        (lambda place: os.link(place / "Start here.md", place / "b.md"), vault.links, "(hard links)"),
        (lambda place: os.mkfifo(place / "pipe"), vault.links, "'pipe' (special files)"),
        (lambda place: (place / ".Plan.md.icloud").touch(), vault.sync, "'.Plan.md.icloud' (iCloud placeholders)"),
        (lambda place: (place / "a.sync-conflict-20261130-120000-ABCDEFG.md").touch(), vault.sync, "(conflict copies)"),
        (lambda place: (place / "a (conflicted copy 2026-11-30).md").touch(), vault.sync, "(conflict copies)"),
        (lambda place: (place / "a (Ada's conflicted copy 2026-11-30).md").touch(), vault.sync, "(conflict copies)"),
        (lambda place: (place / "a (conflict 0123456789ab).md").touch(), vault.sync, "(conflict copies)"),
        (lambda place: (place / "a (conflict 0123456789ab 2).md").touch(), vault.sync, "(conflict copies)"),
        (lambda place: (place / "Recovered by Strongroom (0123456789ab).md").touch(), vault.sync, "(conflict copies)"),
        (lambda place: (place / ".git").mkdir(), vault.repositories, "'.git' in the vault"),
        (lambda place: (place / "Journal" / ".git").mkdir(), vault.repositories, "'Journal/.git' in the vault"),
        (lambda place: (place / "START here.md").touch(), vault.names, "but for case or encoding"),
        (lambda place: Path(os.fsdecode(os.fsencode(place) + b"/\xff.md")).touch(), vault.names, "(not UTF-8)"),
        (
            lambda place: (place / "a\u200bb.md").touch(),
            vault.names,
            "'a\\u200bb.md' (a backslash or an invisible character",
        ),
        (
            lambda place: (place / "a\u200db.md").touch(),
            vault.names,
            "'a\\u200db.md' (a backslash or an invisible character",
        ),
        (lambda place: os.truncate(place / "Start here.md", 100_000_000), vault.names, "STRONGROOM_MAX_FILE_SIZE"),
    ],
)
def test_what_will_surprise_the_owner_is_a_warning(
    make: Callable[[Path], object], check: Check, words: str, furnished: House
) -> None:
    """Complaint 34: a link out of the vault is named, since tools refuse it; complaint 38: so are iCloud's placeholders."""
    assert check(patient(furnished)).verdict is Verdict.OK
    make(furnished.vault)
    warns(check(patient(furnished)), words)


def test_ordinary_names_are_no_conflict_copies(furnished: House) -> None:
    for name in ("Conflict resolution.md", "A copy of the map (2026).md", "on conflict.md"):
        (furnished.vault / name).touch()
    assert vault.sync(patient(furnished)).verdict is Verdict.OK


def test_two_encodings_of_one_name_are_a_warning(furnished: House) -> None:
    (furnished.vault / "caf\u00e9.md").touch()
    (furnished.vault / "cafe\u0301.md").touch()
    warns(vault.names(patient(furnished)), "but for case or encoding")


def test_a_repository_that_history_was_told_to_use_is_no_surprise(furnished: House) -> None:
    (furnished.vault / ".git").mkdir()
    assert vault.repositories(patient(furnished, history_dir=".git")).verdict is Verdict.OK


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_files_of_somebody_else_are_a_warning_to_who_may_take_no_lease_on_them(furnished: House) -> None:
    """Bar 77: a lease needs the file's owner or CAP_LEASE; run without rights (decisions.md 24)."""
    os.chown(furnished.vault / "Start here.md", 4321, 4321)
    assert vault.owners(patient(furnished)).verdict is Verdict.OK  # root holds CAP_LEASE
    unprivileged.give(unprivileged.STRANGER, furnished.vault, furnished.state)
    os.chown(furnished.vault / "Start here.md", 4321, 4321)
    here = patient(furnished)

    def look() -> int:
        finding = vault.owners(here)
        print(finding.verdict, finding.found, sep="|")
        return 0

    verdict, found = unprivileged.run(look).out.strip().split("|")
    assert verdict == "warn"
    assert found.startswith(f"1 of 2 files belong to another user than {unprivileged.STRANGER}: 'Start here.md'")


# -- plugins ----------------------------------------------------------------------------------------------------------


def install(place: Path, settings: Mapping[str, object], profile: str = ".obsidian") -> None:
    """Obsidian plugins that are switched on, with their settings (None: it has none)."""
    folder = place / profile
    folder.mkdir(exist_ok=True)
    (folder / "community-plugins.json").write_text(json.dumps(list(settings)))
    for name, data in settings.items():
        (folder / "plugins" / name).mkdir(parents=True)
        if data is not None:
            text = data if isinstance(data, str) else json.dumps(data)
            (folder / "plugins" / name / "data.json").write_text(text)


SECRET = "sk-secret-key"


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("templater-obsidian", {"trigger_on_file_creation": True, "key": SECRET}, "Templater runs"),
        ("dataview", {"enableDataviewJs": True, "key": SECRET}, "Dataview runs JavaScript"),
        ("dataview", {"enableDataviewJs": False, "enableInlineDataviewJs": True}, "Dataview runs JavaScript"),
        ("obsidian-meta-bind-plugin", {"enableJs": True}, "Meta Bind runs"),
        ("execute-code", None, "Execute Code runs code blocks"),
        ("js-engine", None, "JS Engine runs"),
        ("datacore", {}, "Datacore runs"),
        ("dataview", '{"x": "' + "y" * 1_000_000 + '"}', "Dataview runs"),  # too large to be looked at
    ],
)
def test_a_plugin_that_runs_what_stands_in_notes_is_a_warning(
    name: str, data: object, words: str, furnished: House
) -> None:
    """Bar 77; Templater #716 and #1359. Settings hold keys, so nothing of them is said."""
    install(furnished.vault, {name: data})
    finding = plugins.plugins(patient(furnished))
    warns(finding, words)
    assert SECRET not in f"{finding}"


def test_another_settings_folder_is_looked_at_too(furnished: House) -> None:
    install(furnished.vault, {}, ".obsidian")
    install(furnished.vault, {"execute-code": None}, ".obsidian.mobile")
    warns(plugins.plugins(patient(furnished)), "(.obsidian.mobile)")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("templater-obsidian", {"trigger_on_file_creation": False}),
        ("templater-obsidian", None),
        ("dataview", {"enableDataviewJs": False}),
        ("dataview", "no JSON"),
        ("dataview", "[" * 100_000),
        ("dataview", {"enableDataviewJs": "true"}),
        ("calendar", {"enableDataviewJs": True}),
    ],
)
def test_a_plugin_whose_switch_is_off_is_fine(name: str, data: object, furnished: House) -> None:
    install(furnished.vault, {name: data})
    assert plugins.plugins(patient(furnished)).verdict is Verdict.OK


def test_an_installed_plugin_that_is_not_switched_on_is_fine(furnished: House) -> None:
    install(furnished.vault, {"execute-code": None})
    (furnished.vault / ".obsidian" / "community-plugins.json").write_text('["calendar", 7, null]')
    assert plugins.plugins(patient(furnished)).verdict is Verdict.OK


def test_settings_of_plugins_are_not_looked_for_through_links(furnished: House, tmp_path: Path) -> None:
    install(tmp_path, {"execute-code": None})
    (furnished.vault / ".obsidian").symlink_to(tmp_path / ".obsidian")
    os.mkfifo(furnished.vault / ".pipe")
    assert plugins.plugins(patient(furnished)).verdict is Verdict.OK


# -- places -----------------------------------------------------------------------------------------------------------


def test_file_system_and_locks_when_the_disk_is_nearly_full(furnished: House, monkeypatch: pytest.MonkeyPatch) -> None:
    assert places.file_systems(patient(furnished)).verdict is not Verdict.FAIL
    free = namedtuple("free", ["f_bavail", "f_frsize"])
    monkeypatch.setattr(os, "statvfs", lambda _: free(99, 1_000_000))
    fails(places.file_systems(patient(furnished)), "only 99 MB are free")


def test_file_system_and_locks_when_locks_do_not_exclude(furnished: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network share mounted with nolock answers so."""
    monkeypatch.setattr(fcntl, "flock", lambda _descriptor, _how: None)
    fails(places.file_systems(patient(furnished)), "do not exclude each other")


def test_a_file_system_that_is_not_proven_is_a_warning(furnished: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "kind_of", lambda _: "nfs4")
    warns(places.file_systems(patient(furnished)), "on nfs4, which is not proven here")


@pytest.mark.parametrize("kind", WEAKER)
def test_a_weak_file_system_is_a_warning_that_names_each_weakness(
    kind: str, furnished: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bar 77."""
    kernel = RefusingKernel(WEAKER[kind])
    monkeypatch.setattr(places, "VaultFiles", lambda root: VaultFiles(root, kernel))
    finding = places.file_systems(patient(furnished))
    missing = VaultFiles(Root(furnished.vault), kernel).capabilities().missing
    assert all(places._LACKS[name] in finding.found for name in missing)
    weak = {"exchange", "links", "leases"} & set(missing)
    assert ("weak conflict protection" in finding.found) == bool(weak)


def test_the_kind_of_a_file_system_is_read_from_the_kernel() -> None:
    assert places.kind_of(Path("/proc/self")) == "proc"


def test_state_private(furnished: House) -> None:
    Database(furnished.state, []).close()
    assert places.is_private(patient(furnished)).verdict is Verdict.OK
    (furnished.state / "strongroom.db").chmod(0o644)
    assert places.is_private(patient(furnished)).verdict is Verdict.OK  # the folder keeps others out
    furnished.state.chmod(0o755)
    fails(places.is_private(patient(furnished)), "others can look into")


def test_a_missing_state_is_a_fail(furnished: House) -> None:
    furnished.state.rmdir()
    fails(places.is_private(patient(furnished)), "there is no folder")


def test_a_damaged_database_is_a_fail(furnished: House) -> None:
    database = Database(furnished.state, [])
    database.close()
    (furnished.state / "strongroom.db").write_bytes(b"SQLite format 3\0" + os.urandom(9000))
    fails(places.is_private(patient(furnished)), "is damaged")


def test_a_database_that_a_full_disk_keeps_from_being_read_is_not_called_damaged(
    furnished: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup would be the wrong advice. Found on a full tmpfs, where SQLite cannot make its -shm file."""
    Database(furnished.state, []).close()
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE

    def refused(*_arguments: object, **_more: object) -> None:
        raise error

    monkeypatch.setattr(sqlite3, "connect", refused)
    monkeypatch.setattr(db, "is_full", lambda _: True)
    found = places.is_private(patient(furnished))
    fails(found, "cannot be read now (disk I/O error)")
    assert found.todo == "free some space"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"host": "0.0.0.0", "public_url": "https://notes.example.org"}, "without STRONGROOM_ORIGIN_SECRET"),
        ({"host": "0.0.0.0", "allowed_hosts": ("notes.lan",)}, "without STRONGROOM_ORIGIN_SECRET"),
        ({"commit_every_s": 0.0}, "STRONGROOM_COMMIT_EVERY is 0"),
    ],
)
def test_settings_that_hold_a_trap_are_a_warning(changes: dict[str, object], words: str, furnished: House) -> None:
    assert places.settings_fit(patient(furnished)).verdict is Verdict.OK
    warns(places.settings_fit(patient(furnished, NOW, **changes)), words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"low_trust": ("Clipings",)}, "STRONGROOM_LOW_TRUST names Clipings, which is no folder of the vault (is it Clippings?)"),
        ({"low_trust": ("Archive/Wbe",)}, "names Archive/Wbe, which is no folder of the vault (is it Archive/Web?)"),
        ({"low_trust": ("Archive/Web/Old",)}, "names Archive/Web/Old, which is no folder of the vault"),
        ({"allow_active": ("Zzz",)}, "STRONGROOM_ALLOW_ACTIVE names Zzz, which is no folder of the vault"),
        ({"allow_active": ("clippings/Templates",)}, "clippings/Templates is in STRONGROOM_LOW_TRUST and in STRONGROOM_ALLOW"),
        ({"low_trust": ("Archive/Web",), "allow_active": ("archive",)}, "Archive/Web is in STRONGROOM_LOW_TRUST and in"),
    ],
)  # fmt: skip
def test_a_folder_that_a_setting_names_in_vain_is_a_warning(
    changes: dict[str, object], words: str, furnished: House
) -> None:
    """A slip of the pen there would let notes from outside through, and nobody would notice."""
    for folder in ("Clippings/Templates", "Archive/Web"):
        (furnished.vault / folder).mkdir(parents=True)
    warns(places.settings_fit(patient(furnished, NOW, **changes)), words)


@pytest.mark.parametrize(
    "changes",
    [
        {"low_trust": ("clippings", "ARCHIVE/web", "Cafe\u0301")},
        {"low_trust": (), "allow_active": ("Clippings",)},
        {"allow_active": ("Archive",)},
    ],
)
def test_a_folder_that_a_setting_names_is_found_whatever_its_case(changes: dict[str, object], furnished: House) -> None:
    """As the guards match it; and the default of a vault without clippings is no trap."""
    assert places.settings_fit(patient(furnished)).verdict is Verdict.OK
    for folder in ("Clippings", "Archive/Web", "Café"):
        (furnished.vault / folder).mkdir(parents=True)
    assert places.settings_fit(patient(furnished, NOW, **changes)).verdict is Verdict.OK


def test_the_image_as_ops_up_starts_it_is_well_and_says_what_that_rests_on(furnished: House) -> None:
    """A warning that everybody gets teaches people to pass over warnings. With `--port` it names this machine's address."""
    for public_url in (None, "http://127.0.0.1:8590", "http://localhost:8590", "http://[::1]:8590"):
        found = places.settings_fit(patient(furnished, NOW, host="0.0.0.0", public_url=public_url))
        assert found.verdict is Verdict.OK
        assert "published on 127.0.0.1 only" in found.found


# -- history and scheduler --------------------------------------------------------------------------------------------


def test_history(furnished: House) -> None:
    warns(past.history(patient(furnished)), "there is no history yet")
    committed(furnished)
    found = past.history(patient(furnished))
    assert found.verdict is Verdict.OK
    assert found.found.startswith("1 commit, 2 files")
    for folder in (furnished.state / "history.git" / "objects").iterdir():
        for blob in folder.iterdir():
            if is_blob(blob):
                blob.unlink()
    fails(past.history(patient(furnished)), "2 of the 2 files of the newest commit cannot be read")


def test_a_history_that_breaks_off_is_a_fail(furnished: House) -> None:
    """A commit in the middle that is gone must not look like a young history."""
    for number in range(3):
        (furnished.vault / "n.md").write_text(f"{number}\n", encoding="utf-8")
        committed(furnished)
    with opening.opened(Setup.of(settings_.load(furnished.environ)), HeldClock(NOW, ZoneInfo("UTC"))) as history:
        oldest = history.log.chain()[-1].id
    (furnished.state / "history.git/objects" / oldest[:2] / oldest[2:]).unlink()
    found = past.history(patient(furnished))
    fails(found, "Older commits cannot be read")
    assert found.todo == "restore the history from a backup"


def is_blob(path: Path) -> bool:
    import zlib

    return (
        path.is_file()
        and path.parent.name not in ("pack", "info")
        and zlib.decompress(path.read_bytes()).startswith(b"blob")
    )


def test_a_history_that_waits_for_the_owner_is_a_fail(furnished: House) -> None:
    """The deletion guard."""
    for number in range(30):
        (furnished.vault / f"{number}.md").write_text(f"{number}\n", encoding="utf-8")
    committed(furnished)
    for path in furnished.vault.glob("*.md"):
        path.unlink()
    with pytest.raises(Exception, match="gone or empty at once"):
        committed(furnished)
    found = past.history(patient(furnished))
    fails(found, "are gone or empty at once")
    assert "--accept-deletions" in found.todo + found.means


def test_files_left_at_an_earlier_version_are_a_warning(furnished: House) -> None:
    (furnished.vault / "big.md").write_bytes(b"x" * 2000)
    settings = replace(settings_.load(furnished.environ), max_file_bytes=1000)
    with opening.opened(Setup.of(settings), HeldClock(NOW, ZoneInfo("UTC"))) as history:
        history.commit("test")
    warns(past.history(patient(furnished)), "left at an earlier version: big.md is larger")


def test_a_newest_commit_from_the_future_is_a_fail(furnished: House) -> None:
    committed(furnished, NOW + timedelta(days=2))
    fails(past.history(patient(furnished)), "which is yet to come")


def test_scheduler(furnished: House, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(furnished)
    warns(past.scheduler(patient(furnished)), "no server is running")
    monkeypatch.setattr(running, "server", lambda _: Holder(1, "this morning"))
    lock = furnished.state / "server.lock"
    lock.touch()
    os.utime(lock, (NOW.timestamp(), NOW.timestamp()))
    assert past.scheduler(patient(furnished, NOW + timedelta(minutes=59))).verdict is Verdict.OK
    os.utime(lock, ((NOW + timedelta(minutes=60)).timestamp(),) * 2)
    warns(past.scheduler(patient(furnished, NOW + timedelta(minutes=61))), "is 1 hour old")
    os.utime(lock, (NOW.timestamp(), NOW.timestamp()))
    fails(past.scheduler(patient(furnished, NOW + timedelta(minutes=61))), "has been up for 1 hour")


# -- port and clock ---------------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_port_that_another_program_has(furnished: House) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number = int(listener.getsockname()[1])
        found = running.port(patient(furnished, port=number))
    fails(found, f"127.0.0.1:{number} cannot be used")
    assert "STRONGROOM_PORT" in found.todo
    assert running.port(patient(furnished, port=free_port())).verdict is Verdict.OK


def test_an_address_that_is_not_this_machines_is_a_fail(furnished: House) -> None:
    found = running.port(patient(furnished, host="192.0.2.1", port=free_port()))
    fails(found, "192.0.2.1")
    assert "STRONGROOM_HOST" in found.todo


def test_a_server_that_holds_the_state_and_does_not_answer_is_a_fail(furnished: House) -> None:
    number = free_port()
    subject = patient(furnished, port=number)
    subject.environ = {**furnished.environ, "STRONGROOM_PORT": str(number)}
    lock = Lock(furnished.state / "server.lock", "x")
    assert lock.try_hold() is None
    assert "over stdio" in running.port(subject).found
    (furnished.state / "strongroom.sock").touch()
    fails(running.port(subject), "no answer from 127.0.0.1")
    lock.release()
    assert running.port(subject).verdict is Verdict.OK


def test_doctor_makes_nothing_that_was_not_there(furnished: House, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor"])
    assert list(furnished.state.iterdir()) == []


def test_clock_and_zone(furnished: House) -> None:
    subject = patient(furnished)
    subject.environ = {}
    warns(running.clock(subject), "TZ is not set")
    subject = patient(furnished, zone=ZoneInfo("Asia/Tokyo"))
    subject.environ = {"TZ": "Asia/Tokyo"}
    assert running.clock(subject) == Finding(Verdict.OK, "it is 2026-11-30 21:00 in Asia/Tokyo (UTC+9)")
    fails(running.clock(patient(furnished, datetime(1970, 1, 1, tzinfo=UTC))), "says that it is 1970-01-01")


def test_files_from_the_future_say_that_some_clock_is_wrong(furnished: House) -> None:
    later = (NOW + timedelta(days=3)).timestamp()
    os.utime(furnished.vault / "Start here.md", (later, later))
    subject = patient(furnished)
    subject.environ = {"TZ": "UTC"}
    warns(running.clock(subject), "1 files are dated more than a day ahead")
