"""One operation in a process of its own, so that something may happen to it at any of its system calls.

Run as `python -m tests.support.operations NAME FOLDER`, where FOLDER holds what `prepare` laid out. Writes `BEGIN` and `END`
around the operation to descriptor 2, so that a tracer can tell which calls belong to it, and then its outcome as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from service.errors import AppError
from service.guards import paths
from service.history import restore, undelete
from service.history.history import History
from service.store.journal import Journal
from service.vault import daily, moving, notes
from service.vault.editing import Edit
from service.vault.model import Actor, Vault
from service.vault.move_asked import Asked
from service.vault.picture.picture import Picture
from tests.support.timeline import Timeline, timeline_in
from tests.support.vaults import lay_out

OLD, NEW, APPENDED, EARLIER = "the old text\n", "the new text\n", "one more line\n", "what it was long ago\n"
DAY: Final = "Days/2026-03-01.md"

Operation = Callable[[Vault, Actor, History], object]


def _actor() -> Actor:
    return Actor("laptop", "laptop", permit=lambda: None)


def _move(vault: Vault, actor: Actor, _: History) -> None:
    with vault.lock.writing():
        old = vault.files.read(paths.note("Note.md"))
        moved = vault.files.move(old, paths.new_note("elsewhere/Moved.md"), actor.permit)
        said(moved.caution)


def _move_linked(vault: Vault, actor: Actor, _: History) -> None:
    said(moving.move(vault, actor, Asked.of_note("Folder/Other.md", "elsewhere/Another.md")).caution)


def _move_folder(vault: Vault, actor: Actor, _: History) -> None:
    said(moving.move(vault, actor, Asked.of_note("Folder", "elsewhere/Moved", is_folder=True)).caution)


def _move_over(vault: Vault, actor: Actor, _: History) -> None:
    paths_ = "Folder/Other.md", "Days/2026-02-28.md"
    said(moving.move(vault, actor, Asked.of_file(*paths_, *paths_, overwrites=True)).caution)


def _create(vault: Vault, actor: Actor, _: History) -> None:
    said(notes.create(vault, actor, paths.new_note("new/folder/New.md"), NEW).caution)


def _replace(vault: Vault, actor: Actor, _: History) -> None:
    edit = [Edit(OLD.strip(), NEW.strip(), False)]
    said(notes.edit(vault, actor, paths.note("Note.md"), edit).written.caution)


def _append(vault: Vault, actor: Actor, _: History) -> None:
    said(notes.append(vault, actor, paths.note("Note.md"), APPENDED).caution)


def _trash(vault: Vault, actor: Actor, _: History) -> None:
    said(notes.delete(vault, actor, paths.note("Folder/Other.md"))[0].caution)


def _daily_new(vault: Vault, actor: Actor, _: History) -> None:
    where = daily.place(vault, daily.day(vault, "2026-03-01"))
    said(daily.append(vault, actor, "a thought", where).written.caution)


def _daily_more(vault: Vault, actor: Actor, _: History) -> None:
    where = daily.place(vault, daily.day(vault, "2026-02-28"))
    said(daily.append(vault, actor, "a thought", where).written.caution)


def _restore(_: Vault, actor: Actor, history: History) -> None:
    said(restore.note(history, actor, paths.note("Note.md")).caution)


def _undelete(_: Vault, actor: Actor, history: History) -> None:
    said(restore.note(history, actor, paths.note("Folder/Gone.md")).caution)


def _untrash(vault: Vault, actor: Actor, history: History) -> None:
    said(undelete.note(vault, history, actor, paths.note("Folder/Trashed.md")).written.caution)


def _commit(_: Vault, __: Actor, history: History) -> None:
    history.commit("now", may_use_child=False)


def _flush(_: Vault, __: Actor, history: History) -> None:
    history.flush()


OPERATIONS: Mapping[str, Operation] = {
    "create": _create,
    "replace": _replace,
    "append": _append,
    "move": _move,
    "move, with links": _move_linked,
    "move a folder, with links": _move_folder,
    "move over a file, with links": _move_over,
    "trash": _trash,
    "daily, new": _daily_new,
    "daily, more": _daily_more,
    "restore": _restore,
    "undelete": _undelete,
    "untrash": _untrash,
    "commit": _commit,
    "flush": _flush,
}
CAUTIONS: list[str] = []


def said(caution: str) -> None:
    """Keep what a write told beside its success."""
    CAUTIONS.extend([caution] if caution else [])


def prepare(folder: Path) -> None:
    """A vault with a past: notes of two commits, a deleted one, one written by a tool and not committed, one from outside."""
    with timeline_in(folder) as line:
        lay_out(
            line.vault,
            {
                "Note.md": EARLIER,
                "Folder/Other.md": "another note, see [[../Note]]\n",
                "Folder/Linking.md": "[[Other]] [note](Other.md)\n",
                "Index.md": "![[Folder/Other#x|y]]\n\n[[Linking]]\n",
                "Folder/Gone.md": "deleted later\n",
                "Days/2026-02-28.md": "- a day\n",
                ".obsidian/daily-notes.json": '{"folder": "Days", "template": "Templates/Day"}',
                "Templates/Day.md": "# {{title}}\n",
                ".trash/Folder/Trashed.md": "deleted by a tool\n",
            },
        )
        line.commit()
        line.put("Note.md", OLD)
        (line.vault / "Folder" / "Gone.md").unlink()
        line.commit()
        line.write("laptop", "Folder/Written.md", b"by a tool\n")
        line.put("Folder/Outside.md", "from outside\n")


def main(name: str, folder: str) -> None:
    with timeline_in(Path(folder)) as line:
        vault = vault_of(line)
        os.write(2, b"BEGIN\n")
        told = outcome(name, vault, line.history)
        os.write(2, b"END\n")
    os.write(1, json.dumps(told).encode())


def vault_of(line: Timeline) -> Vault:
    """The vault whose history this is."""
    history = line.history
    return Vault(
        history.files,
        history.locks.writer,
        line.clock,
        on_change=history.record,
        journal=Journal(line.setup.state),
        picture=Picture(history.files.root),
    )


def outcome(name: str, vault: Vault, history: History) -> Mapping[str, str]:
    """Do it; `code` is empty for success, and CRASH for what no caller should see."""
    try:
        OPERATIONS[name](vault, _actor(), history)
    except AppError as error:
        return {"code": error.code, "sentence": str(error)}
    except Exception as error:  # noqa: BLE001  # the test looks at it
        return {"code": "CRASH", "sentence": f"{type(error).__name__}: {error}"}
    return {"code": "", "sentence": " ".join(CAUTIONS)}


if __name__ == "__main__":
    main(*sys.argv[1:])
