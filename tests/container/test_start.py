"""Starting: confined, as whoever the owner says, and with a sentence that helps when it cannot."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.container.conftest import Start
from tests.support.appliance import Folders, structured, text_of, within
from tests.support.engine import Engine

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can hand a folder to somebody else")


def test_it_starts_read_only_without_capabilities(start: Start) -> None:
    """issue 2: starts read-only without capabilities; no writable place but vault, state and /tmp."""
    appliance = start().wait_until_healthy()
    status = appliance.exec("cat", "/proc/1/status").out
    assert re.findall(r"^(CapEff|CapBnd|NoNewPrivs):\s+(\w+)", status, re.MULTILINE) == [
        ("CapEff", "0" * 16),
        ("CapBnd", "0" * 16),
        ("NoNewPrivs", "1"),
    ]
    assert re.search(r"^Uid:\s+(\d+)", status, re.MULTILINE)[1] != "0"  # type: ignore[index]  # no match fails too
    refused = appliance.exec("touch", "/opt/strongroom/lib/strange.py")
    assert refused.code != 0
    assert "Read-only file system" in refused.err


@needs_root
def test_it_starts_as_any_user_and_notes_belong_to_that_user(start: Start, tmp_path: Path) -> None:
    """issue 2: starts as any user. basic-memory PR#277: with --user 1234, new notes are owned by 1234."""
    folders = Folders.make(tmp_path / "other", owner=1234)
    appliance = start(folders).wait_until_healthy()
    appliance.call(appliance.token(), "create_note", path="Inbox/Idea.md", content="# Idea\n")
    note = (folders.vault / "Inbox" / "Idea.md").stat()
    assert (note.st_uid, note.st_gid) == (1234, 1234)
    assert {path.lstat().st_uid for path in folders.state.rglob("*")} == {1234}


@pytest.fixture
def volumes(engine: Engine) -> Iterator[tuple[str, str]]:
    """Names of two volumes that the engine makes on first use. Ask for it before `start`, so that it ends after."""
    vault, state = (f"strongroom-test-{os.getpid()}-{what}" for what in ("vault", "state"))
    yield vault, state
    engine.run("volume", "rm", "--force", vault, state, is_checked=False)


def test_a_fresh_named_volume_takes_any_user(volumes: tuple[str, str], start: Start) -> None:
    """basic-memory PR#277, containers.md: any `--user`, also on volumes that the engine makes."""
    mounts = ((volumes[0], "/vault", "rw"), (volumes[1], "/state", "rw"))
    appliance = start(mounts=mounts, user="4321:4321").wait_until_healthy()
    appliance.call(appliance.token(), "create_note", path="Idea.md", content="# Idea\n")
    assert appliance.exec("stat", "-c", "%u:%g", "/vault/Idea.md").out == "4321:4321\n"


@needs_root
@pytest.mark.parametrize("which", ["vault", "state"])
def test_a_folder_that_cannot_be_written_is_named_with_the_way_out(start: Start, folders: Folders, which: str) -> None:
    """containers.md: one line naming UID:GID, owner and mode found, and the command that mends it; exit code not 0."""
    folder = folders.vault if which == "vault" else folders.state
    os.chown(folder, 0, 0)
    folder.chmod(0o755)
    appliance = start(is_waiting=False)
    assert appliance.exit_code() == 7
    (line,) = appliance.log().strip().splitlines()
    assert f"/{which}" in line
    for fact in ("1000:1000", "0:0", "0755", "chown -R 1000:1000"):
        assert fact in line


def test_a_vault_mounted_read_only_is_refused_unless_writing_is_off(start: Start, folders: Folders) -> None:
    """containers.md: clear refusal on a read-only mount; the way out that it names works."""
    folders.write("Note.md", b"# Note\n")
    mounts = ((str(folders.vault), "/vault", "ro"), (str(folders.state), "/state", "rw"))
    refused = start(mounts=mounts, is_waiting=False)
    assert refused.exit_code() == 7
    (line,) = refused.log().strip().splitlines()
    assert "read-only" in line
    assert "STRONGROOM_READ_ONLY=1" in line
    start(mounts=mounts, env={"STRONGROOM_READ_ONLY": "1"}).wait_until_healthy()


def test_user_ids_by_environment_are_refused_with_what_to_use_instead(start: Start) -> None:
    """decisions 12: PUID/PGID are not honoured; the start says what to use instead."""
    appliance = start(env={"PUID": "1000", "PGID": "1000"}, is_waiting=False)
    assert appliance.exit_code() == 7
    assert "--user" in appliance.log()


def test_a_secret_file_may_end_with_a_line_break(start: Start, folders: Folders, tmp_path: Path) -> None:
    """issue 2: secret file with a line break works; editors and `echo` leave one."""
    secret = "a-secret-of-more-than-32-characters-in-a-file"
    file = tmp_path / "origin-secret"
    file.write_text(f"{secret}\n", encoding="utf-8")
    file.chmod(0o644)
    appliance = start(
        mounts=(
            (str(folders.vault), "/vault", "rw"),
            (str(folders.state), "/state", "rw"),
            (str(file), "/run/origin", "ro"),
        ),
        env={"STRONGROOM_ORIGIN_SECRET_FILE": "/run/origin"},
    )
    assert appliance.status_of("/mcp") == 404
    assert appliance.status_of("/mcp", {"x-origin-secret": secret}) == 401
    assert secret not in appliance.log()


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12"])  # 26 hours apart: never the same day
def test_the_time_zone_decides_which_day_a_line_belongs_to(start: Start, folders: Folders, zone: str) -> None:
    """issue 2: time zone decides the daily note. sytone/obsidian-remote#83: container UTC gives the wrong day."""
    appliance = start(env={"TZ": zone})
    before = datetime.now(ZoneInfo(zone)).date()
    written = structured(appliance.call(appliance.token(), "append_daily_note", text="fed the cat"))
    after = datetime.now(ZoneInfo(zone)).date()
    assert written["path"] in (f"{before}.md", f"{after}.md")
    assert b"fed the cat" in folders.read(str(written["path"]))


def test_a_zone_ahead_decides_a_daily_note_named_by_the_vault_s_own_pattern(start: Start, folders: Folders) -> None:
    """issue 4: a zone ahead of UTC. The pattern holds the offset, since for most of a day the date is UTC's too."""
    folders.write(".obsidian/daily-notes.json", b'{"folder": "Days", "format": "YYYY/MM-DD dddd ZZ"}')
    appliance = start(env={"TZ": "Asia/Tokyo", "STRONGROOM_LOCALE": "de"})
    before = datetime.now(ZoneInfo("Asia/Tokyo"))
    written = structured(appliance.call(appliance.token(), "append_daily_note", text="fed the cat"))
    after = datetime.now(ZoneInfo("Asia/Tokyo"))
    weekdays = ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag")
    possible = {f"Days/{at:%Y/%m-%d} {weekdays[at.weekday()]} +0900.md" for at in (before, after)}
    assert written["path"] in possible
    assert b"fed the cat" in folders.read(str(written["path"]))


def test_an_unknown_time_zone_is_refused(start: Start) -> None:
    """containers.md: TZ honoured or refused."""
    appliance = start(env={"TZ": "Europe/Atlantis"}, is_waiting=False)
    assert appliance.exit_code() == 7
    assert "Europe/Atlantis" in appliance.log()


@pytest.mark.parametrize(
    ("setting", "hint"),
    [
        ("STRONGROOM_TOOLSETS=notes,dialy", "STRONGROOM_TOOLSETS: there is no toolset 'dialy': did you mean daily?"),
        ("STRONGROOM_DISABLED_TOOLS=delete_notes", "there is no tool 'delete_notes': did you mean delete_note?"),
        ("STRONGROOM_READONLY=1", "STRONGROOM_READONLY is not a setting: did you mean STRONGROOM_READ_ONLY?"),
        ("STRONGROOM_READ_ONLY=ture", "STRONGROOM_READ_ONLY: 'ture' is neither yes nor no; give 1 or 0"),
    ],
)
def test_a_misspelt_name_in_a_setting_stops_the_start_with_the_nearest_right_one(
    start: Start, folders: Folders, setting: str, hint: str
) -> None:
    """issue 4: a wrong name in a setting stops the start; else what the owner meant to switch off would be on."""
    folders.write("Note.md", b"kept\n")
    appliance = start(env=dict([setting.split("=")]), is_waiting=False)
    assert appliance.exit_code() == 7
    (line,) = appliance.log().strip().splitlines()
    assert hint in line
    assert [path.name for path in folders.vault.iterdir()] == ["Note.md"]


def test_toolsets_read_only_and_single_tools_are_switched_by_the_container_s_environment(
    start: Start, folders: Folders
) -> None:
    """issue 4: toolsets, read-only mode and the switch of each tool, as a compose file sets them."""
    folders.write("Note.md", b"kept\n")
    chosen = {"TOOLSETS": "daily, connector", "DISABLED_TOOLS": "fetch", "READ_ONLY": "1"}
    appliance = start(env={f"STRONGROOM_{name}": value for name, value in chosen.items()})
    token = appliance.token()

    async def look() -> tuple[set[str], str]:
        async with appliance.client(token) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            return listed, text_of(await client.call_tool("append_daily_note", {"text": "x"}))

    listed, refused = within(30, look)
    assert listed == {"get_daily_note", "search"}
    assert refused.startswith("READ_ONLY: ")
    assert [path.name for path in folders.vault.iterdir()] == ["Note.md"]


@needs_root
@pytest.mark.parametrize("spoken", [{}, {"LC_ALL": "C"}, {"LANG": "de_DE.ISO-8859-1"}], ids=["as-it-is", "C", "latin"])
def test_names_are_utf_8_for_any_user_and_whatever_locale_is_asked_for(
    start: Start, tmp_path: Path, spoken: dict[str, str]
) -> None:
    """Complaint 21. The image has no locale but C.UTF-8, and the service does not start where names are not UTF-8."""
    folders = Folders.make(tmp_path / "other", owner=54321)
    name = "Türkçe ığdır 系統 🖊️.md"
    appliance = start(folders, env=spoken)
    appliance.call(appliance.token(), "create_note", path=name, content="會議 ağaç\n")
    assert folders.read(name) == "會議 ağaç\n".encode()
    appliance.cli("commit")
    assert folders.committed(name) == folders.read(name)
