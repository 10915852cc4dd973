"""What tools answer with that write a note whole, or change its properties: as in `shapes`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from service.tools.shapes import NoteWritten
from service.vault.notes import Written
from service.vault.property_changes import Tagged, Updated
from service.vault.whole_notes import Rewritten

IsChanged = Annotated[bool, Field(description="False: the note was so already, and nothing was written.")]


class NoteRewritten(NoteWritten):
    created: bool
    changed: IsChanged
    properties_gone: Annotated[list[str], Field(description="Properties that the note had and has no more.")]
    diff: str

    @staticmethod
    def after(rewritten: Rewritten, *, notice: str = "") -> NoteRewritten:
        return NoteRewritten(
            **dict(_told(rewritten.written, notice)),
            created=rewritten.is_new,
            changed=rewritten.is_changed,
            properties_gone=list(rewritten.gone),
            diff=rewritten.diff,
        )


class PropertiesUpdated(NoteWritten):
    changed: IsChanged
    diff: str

    @staticmethod
    def after(updated: Updated, *, notice: str = "") -> PropertiesUpdated:
        note = _told(updated.written, notice)
        return PropertiesUpdated(**dict(note), changed=updated.is_changed, diff=updated.diff)


class TagsUpdated(PropertiesUpdated):
    tags: Annotated[list[str], Field(description="Those of its front matter, now.")]
    inline_tags: Annotated[list[str], Field(description="Those in its text, which this leaves alone.")]

    @staticmethod
    def to(tagged: Tagged, *, notice: str = "") -> TagsUpdated:
        updated = PropertiesUpdated.after(tagged.updated, notice=notice)
        return TagsUpdated(**dict(updated), tags=list(tagged.tags), inline_tags=list(tagged.inline))


def _told(written: Written, notice: str) -> NoteWritten:
    """What all of them tell, with one notice more."""
    note = NoteWritten.of(written)
    return note.model_copy(update={"notice": " ".join(filter(None, (note.notice, notice)))})
