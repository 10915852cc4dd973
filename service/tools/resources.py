"""Notes as MCP resources: `note://` and the percent-encoded path. Listed in pages, sorted by path, always from the disk."""

from __future__ import annotations

import base64
import binascii
import bisect
from typing import Final
from urllib.parse import quote, unquote

from mcp_types import ListResourcesResult, ReadResourceResult, Resource, ResourceTemplate, TextResourceContents

from service.errors import BadArgument, NoteNotFound, PathRefused
from service.guards import paths
from service.store.files import Entry
from service.tools import notices
from service.tools.context import Room, given
from service.tools.register import ResourceSpec
from service.vault import listing, notes
from service.vault.notes import Note

SCHEME: Final = "note://"
NOTES_A_PAGE: Final = 500

_MARKDOWN: Final = "text/markdown"


def uri_of(path: str) -> str:
    """The URI of a note: everything but letters, digits, `-._~` and `/` is percent-encoded (RFC 3986)."""
    return SCHEME + quote(path, safe="/")


def page(room: Room, cursor: str | None) -> ListResourcesResult:
    """One page of all notes. The cursor names the last note of the page before, so that pages stay whole meanwhile.

    Raises:
        BadArgument: the cursor is none of ours.
    """
    entries = listing.by_path(room.vault)
    start = bisect.bisect_right(entries, _after(cursor), key=lambda entry: str(entry.path)) if cursor else 0
    shown = entries[start : start + NOTES_A_PAGE]
    is_last = start + NOTES_A_PAGE >= len(entries)
    return ListResourcesResult(
        resources=[_listed(room, entry) for entry in shown],
        next_cursor=None if is_last else _cursor(str(shown[-1].path)),
    )


def read(room: Room, uri: str) -> ReadResourceResult:
    """The whole text of a note as it may be shown. The path may be percent-encoded or as it stands, `#`, `?` and blanks
    included. What is hidden is counted in `_meta`; a low-trust note's label, and why one is withheld, stand in the text too,
    since few clients show `_meta`.

    Raises:
        BadArgument: no `note://` URI.
        NoteNotFound, PathRefused: as `notes.read`.
    """
    if not uri.lower().startswith(SCHEME):
        raise BadArgument("resources here are note:// followed by a path; list them with resources/list.")
    raw = uri[len(SCHEME) :]
    decoded = unquote(raw, errors="strict") if _is_encoded_utf8(raw) else raw
    try:
        note = notes.read(room.vault, paths.note(decoded))
    except (NoteNotFound, PathRefused):
        if raw == decoded:
            raise
        note = _read_as_it_stands(room, raw, decoded)
    label = given(room, [note.path])
    told = notices.of(note.view, label, room.tools)
    is_told_in_text = bool(label or note.view.withheld)
    contents = TextResourceContents(
        uri=uri,
        mime_type=_MARKDOWN,
        text="\n".join([*(f"[{notice}]" for notice in told), note.view.text]) if is_told_in_text else note.view.text,
        _meta={
            "version": note.version,
            "bytes": note.size_bytes,
            **({"hidden": {kind.value: count for kind, count in note.view.counts.items()}} if note.view.counts else {}),
            **({"notices": list(told)} if told else {}),
        },
    )
    return ReadResourceResult(contents=[contents])


def _read_as_it_stands(room: Room, raw: str, decoded: str) -> Note:
    """A name that itself holds a percent sign and was not encoded."""
    try:
        return notes.read(room.vault, paths.note(raw))
    except (NoteNotFound, PathRefused):
        return notes.read(room.vault, paths.note(decoded))  # what the caller most likely meant says what is wrong


def _is_encoded_utf8(raw: str) -> bool:
    try:
        unquote(raw, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def _listed(room: Room, entry: Entry) -> Resource:
    """An entry for a person to choose from, so low-trust notes are among them; they are told apart."""
    return Resource(
        uri=uri_of(str(entry.path)),
        name=str(entry.path),
        description="Low trust: from outside." if room.vault.low_trust.holds(entry.path) else None,
        mime_type=_MARKDOWN,
        size=entry.size_bytes,
    )


def _cursor(path: str) -> str:
    return base64.urlsafe_b64encode(path.encode("utf-8")).decode("ascii")


def _after(cursor: str) -> str:
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode("utf-8")
    except (ValueError, binascii.Error) as error:
        raise BadArgument("that cursor is none of ours; begin again without one.") from error


SPEC: Final = ResourceSpec(
    templates=(
        ResourceTemplate(
            uri_template=SCHEME + "{+path}",
            name="note",
            title="A note of the vault",
            description="The whole text of a note, by its vault-relative path (percent-encoded).",
            mime_type=_MARKDOWN,
        ),
    ),
    page=page,
    read=read,
)
