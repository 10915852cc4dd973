"""Tools for the note of a day."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from service.tools import notices
from service.tools.arguments import Content
from service.tools.context import Ctx, actor, room
from service.tools.register import ToolSpec
from service.tools.shapes import LineAppended
from service.vault import daily


def append_daily_note(
    ctx: Ctx,
    text: Annotated[Content, Field(min_length=1)],
    date: Annotated[str, Field(description="YYYY-MM-DD; today if left out.")] = "",
) -> LineAppended:
    """Add '- HH:MM text' to the end of the daily note, which is created if missing, where the vault's settings put it."""
    vault = room(ctx).vault
    return notices.with_signs(LineAppended.to_day(daily.append(vault, actor(ctx), text, daily.day(vault, date))), text)


SPECS: Final = (ToolSpec(append_daily_note, "Append to the daily note", "daily", writes=True),)
