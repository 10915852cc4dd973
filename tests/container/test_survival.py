"""Stops, kills, restarts, upgrades, lost mounts and lost machines: what was acknowledged is there afterwards."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from anyio import to_thread

from tests.container.conftest import Start
from tests.support import engine as engines
from tests.support.appliance import Appliance, Folders, text_of, until_cut
from tests.support.engine import Engine

STOP_WITHIN_S = 10
"""decisions 12: SIGTERM to exit."""


@pytest.fixture(scope="module")
def newer_image(engine: Engine, image: str) -> Iterator[str]:
    """The same code built as the next version: what an upgrade replaces the image by."""
    tag = engines.build(engine, f"{image.rsplit(':', 1)[0]}:next", labels=["org.opencontainers.image.version=0.1.1"])
    yield tag
    engine.run("rmi", "--force", tag)


def test_it_stops_within_ten_seconds_and_commits_what_was_written(start: Start, folders: Folders) -> None:
    """issue 2: stops within 10 s and commits what was written; with a client's stream open."""
    appliance = start().wait_until_healthy()
    token = appliance.token()

    async def write_and_stop() -> float:
        async with appliance.client(token) as client, client.listen(tools_list_changed=True):
            written = await client.call_tool("create_note", {"path": "Last.md", "content": "last words\n"})
            assert not written.is_error
            folders.write("Outside.md", b"from outside\n")
            return await to_thread.run_sync(appliance.stop)

    took = until_cut(write_and_stop)
    assert took < STOP_WITHIN_S
    assert appliance.exit_code() == 0
    assert folders.committed("Last.md") == b"last words\n"
    assert folders.committed("Outside.md") == b"from outside\n"
    folders.fsck()


def test_it_stops_in_time_right_after_its_start(start: Start) -> None:
    """containers.md: `docker stop` right after start works too (process 1 ignores a SIGTERM it has no handler for)."""
    appliance = start(is_waiting=False)
    assert appliance.stop() < STOP_WITHIN_S
    assert appliance.exit_code() in (0, 143)


def test_tokens_and_history_survive_restart_and_image_upgrade(
    start: Start, folders: Folders, newer_image: str, engine: Engine
) -> None:
    """issue 2: tokens and history survive restart and image upgrade."""
    folders.write("Note.md", b"one\n")
    first = start()
    token = first.token()
    first.cli("commit")
    before = folders.git("rev-parse", "HEAD")
    first.stop()

    first.start_again()
    first.call(token, "append_to_note", path="Note.md", content="two\n")
    first.stop()
    first.remove()

    upgraded = start(image=newer_image)
    version = '{{ index .Config.Labels "org.opencontainers.image.version" }}'
    assert engine.run("inspect", "--format", version, upgraded.name).stdout.strip() == "0.1.1"
    upgraded.call(token, "append_to_note", path="Note.md", content="three\n")
    upgraded.cli("commit")
    assert folders.read("Note.md") == b"one\ntwo\nthree\n"
    upgraded.cli("restore", "Note.md", "--revision", before, "--yes")
    assert folders.read("Note.md") == b"one\n"
    folders.fsck()


def test_kill_in_mid_write_loses_nothing_acknowledged(start: Start, folders: Folders) -> None:
    """issue 2: kill -9 in mid-write, restart, nothing acknowledged is lost, git fsck clean."""
    random = Random(2)  # chooses moments, no secrets
    appliance = start(env={"STRONGROOM_COMMIT_EVERY": "1s", "STRONGROOM_COMMIT_QUIET": "1s"})
    token = appliance.token()
    acknowledged: list[str] = []
    for round_number in range(3):
        _write_until_killed(appliance, token, acknowledged, round_number, after_s=random.uniform(0.3, 1.2))
        appliance.start_again()
        assert folders.temporary_files() == []
        for name in acknowledged:
            assert folders.read(name) == _body(name), name
    assert len(acknowledged) > 10
    appliance.cli("commit")
    assert [name for name in acknowledged if folders.committed(name) != _body(name)] == []
    folders.fsck()


def test_kill_in_mid_commit_leaves_a_sound_history_that_goes_on(start: Start, folders: Folders) -> None:
    """issue 2: kill -9 in mid-commit, restart, git fsck clean."""
    random = Random(3)  # chooses moments, no secrets
    appliance = start(env={"STRONGROOM_COMMIT_EVERY": "0"})
    for round_number in range(4):
        for number in range(400):
            folders.write(f"Many/{number}.md", f"round {round_number}, note {number}\n".encode() * 20)
        committing = threading.Thread(target=appliance.exec, args=("strongroom", "commit"))
        committing.start()
        committing.join(random.uniform(0.4, 1.4))
        appliance.kill()
        committing.join(30)
        if folders.has_history():
            folders.fsck()
        appliance.start_again()
    appliance.cli("commit")
    names = folders.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert sorted(names) == sorted(f"Many/{number}.md" for number in range(400))
    assert all(folders.committed(f"Many/{number}.md") == folders.read(f"Many/{number}.md") for number in (0, 57, 399))
    folders.fsck()


def test_health_turns_red_when_the_vault_vanishes_and_nothing_is_committed(
    start: Start, folders: Folders, engine: Engine
) -> None:
    """issue 2. containers.md: a vault that is suddenly empty is a missing mount, not a deletion."""
    for number in range(30):
        folders.write(f"Notes/{number}.md", b"still here\n")
    often = {"healthcheck": {"interval": 10**9}}  # nanoseconds; the check itself is the image's
    appliance = start(env={"STRONGROOM_COMMIT_EVERY": "1s"}, options=often if engine.name == "docker" else {})
    appliance.wait_for(lambda: folders.has_history() and folders.committed("Notes/7.md") is not None, 20, "commit")
    appliance.wait_for(lambda: appliance.engine_health() == "healthy", 20, "become healthy")
    before = folders.git("rev-parse", "HEAD")
    elsewhere = folders.vault.with_name("elsewhere")
    (folders.vault / "Notes").rename(elsewhere)  # all at once, as when a mount goes

    appliance.wait_for(lambda: appliance.engine_health() == "unhealthy", 20, "turn red")
    assert "vault" in appliance.health().out
    refused = appliance.exec("strongroom", "commit")
    assert refused.code == 6
    assert "--accept-deletions" in refused.err
    assert folders.git("rev-parse", "HEAD") == before

    elsewhere.rename(folders.vault / "Notes")
    appliance.wait_for(lambda: appliance.engine_health() == "healthy", 20, "turn green again")
    assert folders.git("rev-parse", "HEAD") == before
    folders.fsck()


def test_everything_comes_back_on_a_new_empty_machine(start: Start, tmp_path: Path, folders: Folders) -> None:
    """issue 2: restore on a new, empty machine from state and vault alone."""
    folders.write("Note.md", b"old\n")
    first = start()
    token = first.token()
    first.cli("commit")
    old = folders.git("rev-parse", "HEAD")
    folders.write("Note.md", b"new\n")
    first.stop()
    first.remove()

    moved = Folders.make(tmp_path / "other-machine", folders.owner)
    for source, target in ((folders.vault, moved.vault), (folders.state, moved.state)):
        _copy_as_tar_would(source, target)
        shutil.rmtree(source)
    second = start(moved).wait_until_healthy()
    assert "new" in _read(second, token, "Note.md")
    second.cli("restore", "Note.md", "--revision", old, "--yes")
    assert moved.read("Note.md") == b"old\n"
    second.stop()
    second.remove()

    empty = Folders.make(tmp_path / "vault-lost", folders.owner)
    _copy_as_tar_would(moved.state, empty.state)
    third = start(empty)
    assert third.health().code != 0, "an empty vault with a history is a missing vault"
    third.cli("restore", "--all", "--yes")
    assert empty.read("Note.md") == b"old\n"
    third.wait_until_healthy()
    empty.fsck()


def _body(name: str) -> bytes:
    return f"{name}\n".encode() * 50


def _write_until_killed(
    appliance: Appliance, token: str, acknowledged: list[str], round_number: int, after_s: float
) -> None:
    killer = threading.Timer(after_s, appliance.kill)

    async def write() -> None:
        async with appliance.client(token) as client:
            killer.start()
            for number in range(10_000):
                name = f"Round {round_number}/{number}.md"
                answer = await client.call_tool("create_note", {"path": name, "content": _body(name).decode()})
                assert not answer.is_error
                acknowledged.append(name)

    until_cut(write)
    killer.join()


def _copy_as_tar_would(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", f"{source}/.", str(target)], check=True)


def _read(appliance: Appliance, token: str, path: str) -> str:
    return text_of(appliance.call(token, "read_note", path=path))


def test_a_backup_into_the_read_only_image_is_refused_with_the_way_out(start: Start) -> None:
    """`backup notes.tar` is what a person types first; it was called a bug."""
    appliance = start().wait_until_healthy()
    done = appliance.exec("strongroom", "backup", "notes.tar")
    assert done.code == 4
    assert "strongroom backup - > notes.tar" in done.err
