"""What the owner filled in on the consent page, read into a `Choice`, or into sentences that say what to mend.

Of a form only this is believed: how much of what was asked, which folders, how long. Who asks and for what is in the row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from service.auth.asked import Asked, Choice
from service.auth.model import READ, WRITE
from service.errors import BadArgument
from service.guards import folders as folders_

USUAL_DAYS: Final = 90
_OFFERED_DAYS: Final = (1, 7, 30, USUAL_DAYS, 180, 365)
_DAY_S: Final = 86400
_MAX_FOLDERS_CHARS: Final = 8000


@dataclass(frozen=True, slots=True)
class Filled:
    """The form as it stands, valid or not: what is shown again when something has to be mended.

    Args:
        access: `read` or `write`.
        folders: as typed, one a line.
        days: as chosen.
    """

    access: str
    folders: str
    days: str


@dataclass(frozen=True, slots=True)
class Problem:
    """What to mend. `field` is the field's name in the form; `why` is a sentence."""

    field: str
    why: str


def max_days(lifetime_s: float) -> int:
    """The longest that can be chosen; at least a day, which the grant's own lifetime may cut short."""
    return max(1, int(lifetime_s // _DAY_S))


def offered_days(lifetime_s: float) -> Sequence[int]:
    """The numbers of days to choose from, the longest allowed among them."""
    longest = max_days(lifetime_s)
    return (*(days for days in _OFFERED_DAYS if days < longest), longest)


def in_words(days: int, lifetime_s: float) -> str:
    """A number of days as it is offered."""
    if days * _DAY_S > lifetime_s:
        hours = max(1, int(lifetime_s // 3600))
        return f"{hours} hour{'' if hours == 1 else 's'}"
    return f"{days} day{'' if days == 1 else 's'}"


def untouched(asked: Asked, lifetime_s: float) -> Filled:
    """The form before anybody has touched it: what was asked, every folder, some three months."""
    return Filled("write" if WRITE in asked.scopes else "read", "", str(min(USUAL_DAYS, max_days(lifetime_s))))


def filled(fields: Mapping[str, str], asked: Asked, lifetime_s: float) -> Filled:
    """The form as it was sent. A field that is missing is as it was untouched."""
    usual = untouched(asked, lifetime_s)
    return Filled(
        fields.get("access", usual.access),
        fields.get("folders", usual.folders)[:_MAX_FOLDERS_CHARS],
        fields.get("days", usual.days)[:8],
    )


def read(given: Filled, asked: Asked, lifetime_s: float) -> Choice | Problem:
    """What the owner chose, never more than was asked."""
    longest = max_days(lifetime_s)
    if given.access not in ("read", "write"):
        return Problem("access", "Choose what it may do.")
    scopes = asked.scopes if given.access == "write" else asked.scopes & {READ}
    if not scopes:
        return Problem(
            "access", "It did not ask to read, so there is nothing to allow. Deny, or choose what it asked for."
        )
    days = number(given.days)
    if days is None or not 1 <= days <= longest:
        return Problem("days", f"Choose a number of days from 1 to {longest}.")
    lines = [line.strip() for line in given.folders.replace("\r", "\n").split("\n")]
    try:
        allowed = folders_.parse([line for line in lines if line])
    except BadArgument as error:
        return Problem("folders", f"Check the folders: {error}")
    return Choice(scopes, allowed, days)


def number(typed: str) -> int | None:
    """A number as a form sends it, in ASCII digits; None for anything else, such as `²`, which Python calls a digit too."""
    return int(typed) if re.fullmatch(r"[0-9]{1,8}", typed) else None


def missing(folders: Sequence[str]) -> Problem:
    """Of the folders that were named these do not exist. Only for the owner, once he was recognised."""
    named = ", ".join(f"“{folder}”" for folder in folders)
    there = "There is no folder" if len(folders) == 1 else "There are no folders"
    return Problem("folders", f"{there} {named} in your notes. Mend the name, or leave the line out.")
