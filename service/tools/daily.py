"""Tools for the note of a day, a week, a month, a quarter or a year."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from service.tools import notices, showing
from service.tools.arguments import Content
from service.tools.context import Ctx, actor, room
from service.tools.daily_shapes import LineAppended, PeriodMade
from service.tools.register import ToolSpec
from service.vault import daily
from service.vault.daily import Place
from service.vault.model import Vault
from service.vault.periods import Period

Day: TypeAlias = Annotated[str, Field(description="YYYY-MM-DD; today if left out.")]
Periods: TypeAlias = Literal["daily", "weekly", "monthly", "quarterly", "yearly"]


def get_daily_note(ctx: Ctx, date: Day = "", period: Periods = "daily") -> str:
    """Read the note of the day (or the week, month, quarter, year it is in); if there is none, says where it would be."""
    vault = room(ctx).vault
    where = _place(vault, date, period)
    note = daily.find(vault, where)
    if note is None:
        return f"[{where.path} | not there]\n[there is no {period} note of that date yet; create_daily_note makes it]"
    return showing.note(ctx, note, goes_on="read_note goes on with")


def create_daily_note(ctx: Ctx, date: Day = "", period: Periods = "daily") -> PeriodMade:
    """Create the note of the day (or its week, month, quarter, year) from the vault's template; one that is there stays."""
    vault = room(ctx).vault
    return PeriodMade.made(daily.create(vault, actor(ctx), _place(vault, date, period)))


def append_daily_note(
    ctx: Ctx, text: Annotated[Content, Field(min_length=1)], date: Day = "", period: Periods = "daily"
) -> LineAppended:
    """Add '- HH:MM text' to the end of the note of the day (or its week, ...), created if missing; '- [ ] text' stays a task."""
    vault = room(ctx).vault
    done = daily.append(vault, actor(ctx), text, _place(vault, date, period))
    return notices.with_signs(LineAppended.to_day(done), text)


def _place(vault: Vault, date: str, period: Periods) -> Place:
    return daily.place(vault, daily.day(vault, date), Period(period))


SPECS: Final = (
    ToolSpec(get_daily_note, "Read the daily note", "daily"),
    ToolSpec(create_daily_note, "Create the daily note", "daily", writes=True, idempotent=True),
    ToolSpec(append_daily_note, "Append to the daily note", "daily", writes=True),
)
