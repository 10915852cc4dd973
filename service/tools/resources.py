"""What MCP calls resources: notes and pictures by `note://` and their percent-encoded path, and a guide to the vault.

The guide and all notes are listed, in pages, the guide first and then by path, always from the disk. Pictures are not: a
note that shows one names it.
"""

from __future__ import annotations

import base64
import binascii
import bisect
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, unquote

from mcp_types import (
    BlobResourceContents,
    ListResourcesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from service.errors import BadArgument, NoteNotFound, PathRefused
from service.guards import paths
from service.store.files import Entry
from service.tools import notices
from service.tools.context import Room, given
from service.tools.register import ResourceSpec
from service.vault import guide, images, listing, notes
from service.vault.images import Image
from service.vault.notes import Note

SCHEME: Final = "note://"
GUIDE: Final = "strongroom://guide"
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
        resources=[*([] if cursor else [_GUIDE]), *(_listed(room, entry) for entry in shown)],
        next_cursor=None if is_last else _cursor(str(shown[-1].path)),
    )


def read(room: Room, uri: str) -> ReadResourceResult:
    """The whole text of a note as it may be shown, a picture, or the guide. The path may be percent-encoded or as it stands,
    `#`, `?` and blanks included. What is hidden is counted in `_meta`; a low-trust note's label, and why one is withheld, stand
    in the text too, since few clients show `_meta`.

    Raises:
        BadArgument: no URI of ours.
        NoteNotFound, PathRefused, TooLarge: as `notes.read` and `images.read`.
    """
    if uri.lower().rstrip("/") == GUIDE:
        return _guide(room, uri)
    if not uri.lower().startswith(SCHEME):
        raise BadArgument(
            f"resources here are {GUIDE}, and {SCHEME} followed by a path; list them with resources/list."
        )
    raw = uri[len(SCHEME) :]
    decoded = unquote(raw, errors="strict") if _is_encoded_utf8(raw) else raw
    try:
        found = _found(room, decoded)
    except (NoteNotFound, PathRefused):
        if raw == decoded:
            raise
        found = _found_as_it_stands(room, raw, decoded)
    return _note(room, uri, found) if isinstance(found, Note) else _image(room, uri, found)


def _note(room: Room, uri: str, note: Note) -> ReadResourceResult:
    label = given(room, [note.path])
    told = _told(room, note, label)
    is_told_in_text = bool(label or note.view.withheld)
    contents = TextResourceContents(
        uri=uri,
        mime_type=_MARKDOWN,
        text="\n".join([*(f"[{notice}]" for notice in told), note.view.text]) if is_told_in_text else note.view.text,
        _meta=_meta(note, told),
    )
    return ReadResourceResult(contents=[contents])


def _told(room: Room, note: Note, label: str) -> Sequence[str]:
    outline = ["outline of a canvas; the file itself is JSON"] if note.is_outline else []
    return [*notices.of(note.view, label, room.tools), *outline]


def _meta(note: Note, told: Sequence[str]) -> dict[str, object]:
    hidden = {kind.value: count for kind, count in note.view.counts.items()}
    return {
        "version": note.version,
        "bytes": note.size_bytes,
        **({"hidden": hidden} if hidden else {}),
        **({"notices": list(told)} if told else {}),
    }


def _image(room: Room, uri: str, image: Image) -> ReadResourceResult:
    label = given(room, [image.path])
    contents = BlobResourceContents(
        uri=uri,
        mime_type=image.mime_type,
        blob=base64.b64encode(image.data).decode("ascii"),
        _meta={"version": image.version, "bytes": len(image.data), **({"notices": [label]} if label else {})},
    )
    return ReadResourceResult(contents=[contents])


def _guide(room: Room, uri: str) -> ReadResourceResult:
    found = guide.of(room.vault)
    lines = ["# How this vault is organised", "", *found.facts]
    if found.note is not None:
        told = _told(room, found.note, given(room, [found.note.path]))
        cut = [f"[cut here; read the rest as {uri_of(str(found.note.path))}]"] if found.is_cut else []
        lines += ["", f"## {found.note.path}", "", *(f"[{notice}]" for notice in told), found.words, *cut]
    return ReadResourceResult(
        contents=[TextResourceContents(uri=uri, mime_type=_MARKDOWN, text="\n".join(lines).rstrip("\n") + "\n")]
    )


def _found(room: Room, raw: str) -> Note | Image:
    path = paths.image(raw)
    return notes.read(room.vault, paths.note(raw)) if path is None else images.read(room.vault, path)


def _found_as_it_stands(room: Room, raw: str, decoded: str) -> Note | Image:
    """A name that itself holds a percent sign and was not encoded."""
    try:
        return _found(room, raw)
    except (NoteNotFound, PathRefused):
        return _found(room, decoded)  # what the caller most likely meant says what is wrong


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


_GUIDE: Final = Resource(
    uri=GUIDE,
    name="guide",
    title="How this vault is organised",
    description="Read this first: the owner's own words about the vault, and a few facts.",
    mime_type=_MARKDOWN,
)

SPEC: Final = ResourceSpec(
    templates=(
        ResourceTemplate(
            uri_template=SCHEME + "{+path}",
            name="note",
            title="A note or picture of the vault",
            description="The whole text of a note, or a picture, by its vault-relative path (percent-encoded).",
        ),
    ),
    page=page,
    read=read,
)
