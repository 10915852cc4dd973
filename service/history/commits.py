"""Commits as text: what we write in one, and how any is read.

The subject comes from the owner's template. The body lists what changed, one line a file, bounded. The last paragraph holds
the trailers `Strongroom-Reason:` and, for one grant's writes, `Strongroom-Grant:`. Names are escaped to one line, so that no
file name can pass for a trailer.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from dulwich.objects import Commit, ObjectID

from service.history.model import Action, FileChange, Revision, shown

MAX_LISTED: Final = 50
"""Files named in a commit's body; the rest are counted."""
MAX_LABEL_CHARS: Final = 200
REASON: Final = "Strongroom-Reason"
GRANT: Final = "Strongroom-Grant"
SOURCE: Final = "Strongroom-Restored-From"
_LETTERS: Final = {Action.ADDED: "A", Action.CHANGED: "M", Action.REMOVED: "D", Action.RENAMED: "R"}
_TRAILER: Final = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9-]*): (?P<value>.*)")
_IDENTITY: Final = re.compile(rb"(?P<who>.*?) (?P<seconds>-?\d+) (?P<offset>[+-]\d{4})$")


@dataclass(frozen=True, slots=True)
class CommitText:
    """A commit's header and message, parsed. `time` is the committer's."""

    tree: str
    parents: tuple[str, ...]
    author: str
    time: datetime
    message: str


@dataclass(frozen=True, slots=True)
class Wording:
    """How our commits are worded: the owner's author and template, and the zone times are written in."""

    author: str
    template: str
    host: str

    @classmethod
    def of(cls, author: str, template: str) -> Wording:
        """The wording of this machine."""
        return cls(author, template, socket.gethostname())


@dataclass(frozen=True, slots=True)
class Trailers:
    """What our last paragraph says."""

    reason: str
    grant: str | None = None
    source: str | None = None


def compose(
    wording: Wording, tree: str, parent: str | None, at: datetime, *, changes: Sequence[FileChange], trailers: Trailers
) -> bytes:
    """The raw content of a new commit. `at` is aware; its own offset is what the commit shows."""
    commit = Commit()
    commit.tree = ObjectID(tree.encode("ascii"))
    commit.parents = [ObjectID(parent.encode("ascii"))] if parent else []
    commit.author = commit.committer = wording.author.encode("utf-8", "replace")
    commit.author_time = commit.commit_time = int(at.timestamp())
    offset = at.utcoffset() or timedelta()
    commit.author_timezone = commit.commit_timezone = int(offset.total_seconds() // 60 * 60)
    commit.encoding = b"UTF-8"
    commit.message = message(wording, at, changes, trailers).encode("utf-8", "replace")
    return commit.as_raw_string()


def message(wording: Wording, at: datetime, changes: Sequence[FileChange], trailers: Trailers) -> str:
    """Subject, list of files, trailers."""
    words = {
        "summary": summary(changes),
        "reason": trailers.reason,
        "time": at.strftime("%Y-%m-%d %H:%M"),
        "host": wording.host,
    }
    subject = re.sub(r"{(\w+)}", lambda match: words.get(match[1], match[0]), wording.template)
    lines = [_listed(change) for change in changes[:MAX_LISTED]]
    if len(changes) > MAX_LISTED:
        lines.append(f"... and {len(changes) - MAX_LISTED} more")
    last = [f"{REASON}: {trailers.reason}"]
    if trailers.grant is not None:
        last.append(f"{GRANT}: {one_line(trailers.grant)}")
    if trailers.source is not None:
        last.append(f"{SOURCE}: {trailers.source}")
    return "\n\n".join((shown(subject), *(["\n".join(lines)] if lines else []), "\n".join(last))) + "\n"


def summary(changes: Sequence[FileChange]) -> str:
    """`3 added, 1 renamed`, or `nothing`."""
    counts = [(sum(change.action is action for change in changes), action.value) for action in Action]
    return ", ".join(f"{count} {word}" for count, word in counts if count) or "nothing"


def one_line(text: str) -> str:
    """A label fit for a trailer."""
    return shown(text.strip())[:MAX_LABEL_CHARS]


def parse(raw: bytes) -> CommitText:
    """Read a commit, also one that another program wrote.

    Raises:
        ValueError: it has no tree or no committer.
    """
    header, _, body = raw.partition(b"\n\n")
    tree, parents, author, committer, encoding = "", [], b"", b"", "utf-8"
    for line in header.split(b"\n"):
        key, _, value = line.partition(b" ")
        match key:
            case b"tree":
                tree = value.decode("ascii")
            case b"parent":
                parents.append(value.decode("ascii"))
            case b"author":
                author = value
            case b"committer":
                committer = value
            case b"encoding":
                encoding = value.decode("ascii", "replace")
    who = _IDENTITY.match(author)
    when = _IDENTITY.match(committer)
    if not tree or when is None:
        raise ValueError("no commit")
    name = (who["who"] if who else author).decode("utf-8", "replace")
    return CommitText(tree, tuple(parents), name, _moment(when), _decoded(body, encoding))


def revision(commit: str, text: CommitText) -> Revision:
    """The commit as its header and trailers tell it."""
    subject = text.message.partition("\n")[0]
    found = trailers_of(text.message)
    return Revision(commit, text.time, text.author, subject, found.get(REASON), found.get(GRANT))


def trailers_of(text: str) -> dict[str, str]:
    """The trailers of a message: `Key: value` lines of its last paragraph, when it holds nothing else."""
    paragraphs = text.strip().split("\n\n")
    if len(paragraphs) < 2:
        return {}
    matches = [_TRAILER.fullmatch(line) for line in paragraphs[-1].split("\n")]
    return {match["key"]: match["value"] for match in matches if match} if all(matches) else {}


def _listed(change: FileChange) -> str:
    if change.old_path is not None:
        return f"{_LETTERS[change.action]} {shown(change.old_path)} -> {shown(change.path)}"
    return f"{_LETTERS[change.action]} {shown(change.path)}"


def _moment(match: re.Match[bytes]) -> datetime:
    offset = int(match["offset"][1:3]) * 60 + int(match["offset"][3:5])
    sign = -1 if match["offset"].startswith(b"-") else 1
    try:
        return datetime.fromtimestamp(int(match["seconds"]), timezone(timedelta(minutes=sign * offset))).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _decoded(body: bytes, encoding: str) -> str:
    try:
        return body.decode(encoding, "replace")
    except LookupError:
        return body.decode("utf-8", "replace")
