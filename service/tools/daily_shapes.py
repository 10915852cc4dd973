"""What the tools for daily and periodic notes answer with."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from service.tools.shapes import NoteWritten
from service.vault.daily import Appended, Made


class PeriodMade(NoteWritten):
    created: Annotated[bool, Field(description="False: it was there already and is as it was.")]
    template: Annotated[
        str, Field(description="What it began with, as the vault's settings name it; empty for nothing.")
    ]

    @staticmethod
    def made(made: Made) -> PeriodMade:
        return PeriodMade(**dict(NoteWritten.of(made.written)), created=made.created, template=made.template)


class LineAppended(NoteWritten):
    created: bool
    line: Annotated[str, Field(description="The (first) line as written.")]
    line_number: int

    @staticmethod
    def to_day(appended: Appended) -> LineAppended:
        return LineAppended(
            **dict(NoteWritten.of(appended.written)),
            created=appended.created,
            line=appended.line,
            line_number=appended.line_number,
        )
