"""A move that rewrites many notes and is killed at some moment: after the restart all of it is there, or nothing."""

from __future__ import annotations

import threading
import time

from tests.container.conftest import Start
from tests.support.appliance import Appliance, Folders, structured, until_cut

LINKING = 500
"""Notes that link to the moved one: enough that a kill comes while they are being rewritten, one move may touch 1,000."""

OLD, NEW = "Notes/Heron.md", "Birds/Grey heron.md"
ABOUT = b"# Heron\n\nSee [[0]] and [the first](./0.md).\n"
"""What the moved note says; the second link is relative, so the note itself changes too when it moves."""


def linking(number: int, *, is_moved: bool) -> bytes:
    """What a linking note says before and after the move; the bytes around the links are a person's."""
    wiki, markdown = ("Grey heron", "../Birds/Grey%20heron.md") if is_moved else ("Heron", "Heron.md")
    return f"note {number}\r\n[[{wiki}|it]]  \n![[{wiki}#Heron]] [m]({markdown})\t\n\nno end".encode()


def about(*, is_moved: bool) -> bytes:
    return ABOUT.replace(b"(./0.md)", b"(../Notes/0.md)") if is_moved else ABOUT


def lay_out(folders: Folders) -> None:
    folders.write(OLD, ABOUT)
    for number in range(LINKING):
        folders.write(f"Notes/{number}.md", linking(number, is_moved=False))
    folders.write("Birds/Without a link.md", b"Heron, but no link to it\n")


def count_rewritten(folders: Folders) -> int:
    return sum(folders.read(f"Notes/{number}.md") != linking(number, is_moved=False) for number in range(LINKING))


def assert_all_or_nothing(folders: Folders) -> bool:
    """See that every byte is as before the move, or as after it; which of the two."""
    is_moved = (folders.vault / NEW).exists()
    assert (folders.vault / OLD).exists() != is_moved
    assert folders.read(NEW if is_moved else OLD) == about(is_moved=is_moved)
    odd = [n for n in range(LINKING) if folders.read(f"Notes/{n}.md") != linking(n, is_moved=is_moved)]
    assert odd == [], f"neither all nor nothing: moved is {is_moved}"
    assert folders.read("Birds/Without a link.md") == b"Heron, but no link to it\n"
    notes = {path.relative_to(folders.vault).as_posix() for path in folders.vault.rglob("*.md")}
    assert len(notes) == LINKING + 2
    assert folders.temporary_files() == []
    assert not (folders.state / "change.journal").exists()
    return is_moved


def move_until_killed(appliance: Appliance, token: str, at_least: int) -> bool:
    """Ask for the move, and kill the container once that many notes are rewritten; whether an answer came before."""
    folders = appliance.folders

    def kill_in_time() -> None:
        deadline = time.monotonic() + 60
        while not (folders.state / "change.journal").exists() or count_rewritten(folders) < at_least:
            assert time.monotonic() < deadline, "the move did not get that far"
            time.sleep(0.002)
        appliance.kill()

    killer = threading.Thread(target=kill_in_time)

    async def move() -> float:
        async with appliance.client(token) as client:
            killer.start()
            answer = await client.call_tool("move_note", {"from": OLD, "to": NEW})
            assert not answer.is_error
            return 1

    answered = until_cut(move) == 1
    killer.join()
    return answered


def test_a_move_killed_while_it_rewrites_links_is_all_there_or_not_at_all(start: Start, folders: Folders) -> None:
    """issue 4: all or nothing, with a journal that a crash can settle. SIGKILL as soon as, and while, notes are rewritten."""
    lay_out(folders)
    appliance = start(env={"STRONGROOM_COMMIT_EVERY": "0"})
    token = appliance.token()
    appliance.cli("commit")
    is_moved = False
    for at_least in (0, 100):
        answered = move_until_killed(appliance, token, at_least)
        appliance.start_again()
        is_moved = assert_all_or_nothing(folders)
        assert is_moved or not answered, "what was acknowledged is there"
        if is_moved:
            break
    assert "change.taken_back" in appliance.log(), "a kill came in the middle, or this test shows nothing"

    if not is_moved:
        moved = structured(appliance.call(token, "move_note", **{"from": OLD, "to": NEW}))
        assert moved["total_changed"] == LINKING
    assert assert_all_or_nothing(folders), "afterwards the move goes through"
    appliance.cli("commit")
    assert folders.committed(OLD) is None
    assert folders.committed(NEW) == about(is_moved=True)
    assert folders.committed("Notes/7.md") == linking(7, is_moved=True)
    folders.fsck()
