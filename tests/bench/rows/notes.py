"""One note read, written and edited, beside MCPVault's calls for it, both over stdio on the same disk.

Ours with all that it does besides: guards on what goes in and out, the version check, fsync of file and folder. Each side
has notes of its own in a folder that is taken away again.
"""

from __future__ import annotations

import re
import shutil

from tests.bench.engines import Engine, text_of
from tests.bench.model import Target
from tests.bench.run import Run
from tests.bench.turns import by_turns
from tests.bench.vaults import Measured

TARGET = Target(1.0)
FOLDER = "Bench notes"
BODY = "".join(f"Line {number} of a note that is written again and again, with some words.\n" for number in range(40))
_VERSION = re.compile(r"\b[0-9a-f]{12}\b")


async def measure(run: Run, vault: Measured) -> None:
    folder = vault.folder / FOLDER
    folder.mkdir(exist_ok=True)
    try:
        async with run.stdio(vault) as ours, run.mcpvault(vault, "notes") as theirs:
            if theirs is not None:
                await _measure(run, vault, ours, theirs)
    finally:
        shutil.rmtree(folder)


async def _measure(run: Run, vault: Measured, ours: Engine, theirs: Engine) -> None:
    questions, rounds = run.questions(vault), 6 * run.rounds
    numbers = iter(range(1_000_000))
    mine, other = f"{FOLDER}/ours.md", f"{FOLDER}/theirs.md"
    made = await ours.call("create_note", path=mine, content=BODY + "revision 0\n")
    version = _version(text_of(made))
    await theirs.call("write_note", path=other, content=BODY + "revision 0\n")

    async def write(number: int) -> None:
        nonlocal version
        told = await ours.call(
            "write_note", path=mine, content=f"{BODY}revision {number}\n", mode="overwrite", expected_hash=version
        )
        version = _version(text_of(told))

    last = {"ours": 0, "theirs": 0}

    async def edit(number: int) -> None:
        nonlocal version
        edits = [{"old_string": f"revision {last['ours']}\n", "new_string": f"revision {number}\n"}]
        told = await ours.call("edit_note", path=mine, edits=edits, expected_hash=version)
        version, last["ours"] = _version(text_of(told)), number

    async def patch(number: int) -> None:
        old, new = f"revision {last['theirs']}\n", f"revision {number}\n"
        await theirs.call("patch_note", path=other, oldString=old, newString=new)
        last["theirs"] = number

    times = await by_turns(
        {
            "ours": lambda path: ours.call("read_note", path=path),
            "theirs": lambda path: theirs.call("read_note", path=path),
        },
        questions.path,
        rounds,
    )
    run.compare("notes", vault.name, "read_note", times["ours"], times["theirs"], "MCPVault read_note", TARGET)
    times = await by_turns(
        {
            "ours": write,
            "theirs": lambda number: theirs.call("write_note", path=other, content=f"{BODY}revision {number}\n"),
        },
        lambda: next(numbers),
        rounds,
    )
    run.compare("notes", vault.name, "write_note", times["ours"], times["theirs"], "MCPVault write_note", TARGET)
    await write(0)
    await theirs.call("write_note", path=other, content=f"{BODY}revision 0\n")
    times = await by_turns(
        {"ours": edit, "theirs": patch},
        lambda: next(numbers),
        rounds,
    )
    run.compare("notes", vault.name, "edit_note", times["ours"], times["theirs"], "MCPVault patch_note", TARGET)


def _version(told: str) -> str:
    found = _VERSION.findall(told)
    assert found, told[:200]
    return found[-1]
