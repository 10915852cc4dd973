"""Bring back what was: a note, folders, the whole vault; always as new changes on top, never by rewriting history.

First the present state is committed (what is missing from it stays in the tree, so the deletion guard does not stand in the
way); if that fails, nothing is restored. Then each file is written through the store, under the writer lock, only over the
very bytes that this commit holds; then one commit names what came from where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.errors import (
    AppError,
    BadArgument,
    HistoryHeld,
    NoteChanged,
    NoteNotFound,
    PathRefused,
    RevisionNotFound,
    TooLarge,
)
from service.guards import paths
from service.guards.paths import VaultPath
from service.history import plan as plans
from service.history.commits import Trailers
from service.history.history import History
from service.history.log import no_such
from service.history.model import FOLDER_MODE, PROGRAM_MODE, Blob, Deletions, Revision, shown
from service.history.objects import BLOB, id_of
from service.history.plan import Item, Kind, Plan, Wanted
from service.history.steps import Step
from service.store.files import FileContent, version_of
from service.vault import versions
from service.vault.model import Actor

BEFORE: Final = "before-restore"
AFTER: Final = "restore"
_EXECUTE_BITS: Final = 0o111


@dataclass(frozen=True, slots=True)
class Asked:
    """What to bring back, as the owner said it.

    Args:
        paths: notes or folders; empty for the whole vault.
        at, revision: the state to bring back, by time (aware) or by commit; neither means the last one that differs
            from the present (of the whole vault: the last commit).
        is_exact: also remove files that are newer than that state.
        only_missing: bring back what is gone, and change nothing that is there.
    """

    paths: tuple[str, ...]
    at: datetime | None = None
    revision: str | None = None
    is_exact: bool = False
    only_missing: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """A file that could not be restored, and the sentence that says why; its present text was not touched."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Caution:
    """A file that was restored, and a sentence about what did not end as it should have."""

    path: str
    what: str


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did. `before` is the commit to restore for undoing it (None when there is none), `commit` the new one."""

    done: tuple[Item, ...]
    failed: tuple[Failed, ...]
    before: str | None
    commit: str | None
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True, slots=True)
class RestoredNote:
    """One note brought back. `commit` is None when it held that text already; `caution` as of any write."""

    path: VaultPath
    version: str
    size_bytes: int
    source: Revision
    commit: str | None
    caution: str = ""


def plan(history: History, asked: Asked) -> Plan:
    """What `apply` would do now. Changes nothing.

    Raises:
        RevisionNotFound: there is no such state, or the note was not in it.
        BadArgument: a path that is a folder now, and no time was given.
        HistoryHeld, VaultMissing, Busy: it cannot be told at the moment.
    """
    return _plan(history, asked, history.present())


def apply(
    history: History, asked: Asked, actor: Actor, on_done: Callable[[Item], None] = lambda _item: None
) -> Restored:
    """Restore, and commit.

    Args:
        actor: on whose word; its `permit` is asked before every file.
        on_done: told of each file, for a progress bar.

    Raises:
        As `plan`; nothing was changed then. What fails later, file by file, is in the answer.
    """
    with history.locks.history.writing():
        fixed = _fixed(history, asked)
        history.commit(BEFORE, deletions=Deletions.KEEP, may_use_child=False)
        before = history.git.head().commit
        chosen = _plan(history, fixed, history.present())
        done, failed, cautions = _carry_out(history, chosen, before, actor, on_done)
        commit = _publish(history, done, None)
        _lift_hold(history)
        return Restored(tuple(done), tuple(failed), before, commit, tuple(cautions))


def note(
    history: History,
    actor: Actor,
    path: VaultPath,
    *,
    at: datetime | None = None,
    revision: str | None = None,
    expected_hash: str = "",
) -> RestoredNote:
    """Bring one note back as it was at a time or revision (neither: the last version that differs), on a grant's word.

    Raises:
        RevisionNotFound: it was not there then.
        PathRefused: NOT_A_FILE, it is a folder or was one then.
        NoteChanged: the note is not the expected version, or changed meanwhile.
        HistoryHeld, Busy, NoSpace: nothing was changed.
    """
    asked = _fixed(history, Asked((_located(history, path),), at, revision))
    history.commit(BEFORE, deletions=Deletions.KEEP)  # may be large, and then needs the lock for its child
    with history.locks.history.writing():
        history.commit(BEFORE, deletions=Deletions.KEEP, may_use_child=False)
        before = history.git.head().commit
        item = _the_note(history, asked)
        _expect(history, item, expected_hash)
        if item.kind is Kind.SKIP:
            raise BadArgument(f"{shown(item.path)} cannot be restored: {item.why}.")
        done: list[Item] = []
        caution = ""
        if item.kind is not Kind.SAME:
            caution = _one(history, item, before, actor)
            done.append(item)
        commit = _publish(history, done, actor.label)
    data = history.log.blob(item.new.id) if item.new else b""
    source = history.log.revision(item.commit)
    return RestoredNote(paths.tracked(item.path), version_of(data), len(data), source, commit, caution)


def _the_note(history: History, asked: Asked) -> Item:
    """The one item of a note's plan. A folder is not restored here: it may hold what this caller cannot see."""
    (path,), present = asked.paths, history.present()
    if path not in present and _is_there(path, present):
        raise PathRefused("NOT_A_FILE", f"{shown(path)!r} is a folder; restore the notes in it one by one.")
    items = _plan(history, asked, present).items
    if any(item.path.count("/") != path.count("/") for item in items) or not items:
        raise PathRefused("NOT_A_FILE", f"{shown(path)!r} was a folder then; restore the notes in it one by one.")
    return items[0]


def _fixed(history: History, asked: Asked) -> Asked:
    """`asked` with its time or relative revision settled, before a new commit moves what `~1` means."""
    if asked.at is not None and asked.revision is not None:
        raise BadArgument("give a time or a revision, not both.")
    if asked.at is not None:
        commit: str | None = history.log.as_of(asked.at)
    elif asked.revision is not None:
        commit = history.log.resolve(asked.revision)
    elif not asked.paths:
        commit = history.log.resolve("HEAD")
    else:
        commit = None
    return Asked(asked.paths, None, commit, asked.is_exact, asked.only_missing)


def _plan(history: History, asked: Asked, present: dict[str, Blob]) -> Plan:
    fixed = _fixed(history, asked)
    names = [name.rstrip("/") for name in fixed.paths]
    for name in names:
        paths.tracked(name)
    wanted = [_one_wanted(history, name, fixed, present) for name in names] or [_whole(history, str(fixed.revision))]
    revisions = {want.commit: history.log.revision(want.commit) for want in wanted}
    return plans.make(present, wanted, revisions, is_exact=fixed.is_exact, only_missing=fixed.only_missing)


def _whole(history: History, commit: str) -> Wanted:
    tree = history.log.tree_of(commit)
    return _wanted(history, commit, {path: (path, blob) for path, blob in history.log.files(tree)}, "")


def _wanted(history: History, commit: str, files: dict[str, tuple[str, Blob]], scope: str | None) -> Wanted:
    tree = history.log.tree_of(commit)
    return Wanted(commit, files, scope, lambda name: history.log.entry(tree, name) is not None)


def _one_wanted(history: History, path: str, asked: Asked, present: dict[str, Blob]) -> Wanted:
    commit = asked.revision or _last_other(history, path, present)
    tree = history.log.tree_of(commit)
    found = history.log.spelled(tree, path)
    if found is None:
        old_name = history.log.name_then(path, commit)
        found = None if old_name is None else history.log.spelled(tree, old_name)
        if found is None and asked.is_exact and _is_there(path, present):
            return _wanted(history, commit, {}, path)  # it was not there then, and exactly that is asked for
        if found is None or found[1].mode == FOLDER_MODE:
            raise no_such(path)
        return _wanted(history, commit, {path: found}, None)
    name, entry = found
    if entry.mode == FOLDER_MODE:
        files = {inner: (inner, blob) for inner, blob in history.log.files(entry.id, name + "/")}
        return _wanted(history, commit, files, name)
    return _wanted(history, commit, {name: (name, entry)}, None)


def _last_other(history: History, path: str, present: dict[str, Blob]) -> str:
    """The newest commit in which `path`, or the note under an older name, was something else than it is now."""
    if path not in present and _is_there(path, present):
        raise BadArgument(f"{shown(path)} is a folder: say which state of it, by a time or a revision.")
    now = present.get(path)
    for commit, blob in history.log.states(path):
        if blob is not None and blob != now:
            return commit
    if now is None:
        raise no_such(path)
    for told in history.log.stories(path):
        if told.blob is not None and told.blob != now:
            return told.link.id  # from before it was renamed
    with suppress(NoteNotFound, TooLarge):  # a FIFO or a link in its place is why nothing could be seen to differ
        history.files.read_tracked(paths.tracked(path))
    raise RevisionNotFound(
        f"other version of {shown(path)}", "It is now as in every commit, so nothing can be brought back."
    )


def _is_there(path: str, present: dict[str, Blob]) -> bool:
    return path in present or any(name.startswith(path + "/") for name in present)


def _carry_out(
    history: History, chosen: Plan, before: str | None, actor: Actor, on_done: Callable[[Item], None]
) -> tuple[list[Item], list[Failed], list[Caution]]:
    done: list[Item] = []
    cautions: list[Caution] = []
    failed = [Failed(item.path, item.why) for item in chosen.of(Kind.SKIP)]
    for item in _in_order(chosen):
        try:
            caution = _one(history, item, before, actor)
        except AppError as error:
            failed.append(Failed(item.path, str(error)))
        else:
            done.append(item)
            cautions += [Caution(item.path, caution)] if caution else []
        on_done(item)
    return done, failed, cautions


def _in_order(chosen: Plan) -> list[Item]:
    """Removals that clear the place for something first, then what is written, then the other removals."""
    made = [item.path for item in chosen.of(Kind.CREATE)]
    removals = chosen.of(Kind.REMOVE)
    blocking = [item for item in removals if _is_in_the_way(item.path, made)]
    rest = [item for item in removals if item not in blocking]
    return [*blocking, *chosen.of(Kind.CREATE, Kind.CHANGE), *rest]


def _is_in_the_way(path: str, made: Iterable[str]) -> bool:
    return any(new.startswith(path + "/") or path.startswith(new + "/") for new in made)


def _one(history: History, item: Item, before: str | None, actor: Actor) -> str:
    """Write or remove one file, if the vault still holds what the commit `before` has saved of it; returns the caution."""
    where = paths.tracked(item.path)
    data = history.log.blob(item.new.id) if item.new is not None else b""
    with history.locks.writer.writing():
        if item.new is None:
            history.files.remove(_saved(history, where, item, before), actor.permit)
            _drop_empty_folders(history, where.parent)
            return ""
        if item.old is None:
            mode = 0o755 if item.new.mode == PROGRAM_MODE else 0o644
            return history.files.put(where, data, mode, actor.permit).caution
        found = _saved(history, where, item, before)
        return history.files.put(where, data, _mode(found, item.new), actor.permit, found).caution


def _saved(history: History, where: VaultPath, item: Item, before: str | None) -> FileContent:
    """The file, if it holds what `before` does. What the plan saw is no measure: it may have been typed since that commit."""
    found = history.files.read_tracked(where, history.setup.max_file_bytes)
    saved = history.log.entry(history.log.tree_of(before), item.path) if before is not None else None
    if saved is None or id_of(BLOB, found.data) != saved.id:
        raise NoteChanged(
            str(where), "none" if saved is None else version_of(history.log.blob(saved.id)), found.version
        )
    return found


def _mode(found: FileContent, new: Blob) -> int:
    """The file's own mode, with the execute bits as history has them: for everybody who may read."""
    if new.mode == PROGRAM_MODE:
        return found.mode | ((found.mode & 0o444) >> 2)
    return found.mode & ~_EXECUTE_BITS


def _drop_empty_folders(history: History, folder: VaultPath) -> None:
    while folder.parts and history.files.drop_folder(folder):
        folder = folder.parent


def _lift_hold(history: History) -> None:
    """When the deletion guard held commits back, look at once whether it still has reason to."""
    if history.status().is_held:
        with suppress(HistoryHeld):
            history.commit(AFTER, may_use_child=False)


def _publish(history: History, done: Sequence[Item], label: str | None) -> str | None:
    """Commit what was restored, one commit for each state that it came from."""
    by_source: dict[str, dict[str, Blob | None]] = {}
    for item in done:
        by_source.setdefault(item.commit, {})[item.path] = item.new
    steps = [
        Step(changes, Trailers(AFTER, label, source), history.clock.now()) for source, changes in by_source.items()
    ]
    commits = history.publish(steps).commits if steps else ()
    return commits[-1] if commits else None


def _located(history: History, path: VaultPath) -> str:
    try:
        return str(history.files.locate(path))
    except NoteNotFound:
        return history.log.named(str(path))


def _expect(history: History, item: Item, expected_hash: str) -> None:
    if not expected_hash:
        return
    if item.old is None:
        raise NoteChanged(item.path, expected_hash[:12], "none")
    versions.check(FileContent(paths.tracked(item.path), history.log.blob(item.old.id), 0, 0), expected_hash)
