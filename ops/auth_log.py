"""`strongroom auth log`: the audit log, as a table for a person or as the JSON lines it consists of."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from ops import output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.auth.audit import Fact

_KNOWN: Final[frozenset[str]] = frozenset(("at", "event"))
_BEGINNING: Final = datetime.fromtimestamp(0, UTC)


@click.command()
@click.option("--since", metavar="TIME", help="Not older than, such as '2 days ago'.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, one an event.")
def command(since: str | None, as_json: bool) -> None:
    """Show the audit log, the oldest first.

    Sign-ins that worked or failed, what was given and taken back, what was refused, and what clients changed. No token,
    code or passphrase is ever in it. The newest 15 MB or so are kept.
    """
    from ops import permits
    from service.history.when import Edge, resolve

    with permits.opened() as here:
        begin = resolve(since, here.clock, Edge.START) if since else _BEGINNING
        lines = [line for line in here.audit.lines() if _at(line) >= begin]
        zone = here.settings.zone
    if as_json:
        for line in lines:
            click.echo(json.dumps(line, ensure_ascii=True))
    elif lines:
        rows = [
            (f"{_at(line).astimezone(zone):%Y-%m-%d %H:%M:%S}", str(line.get("event", "")), _facts(line))
            for line in lines
        ]
        output.print_table(("When", "What", "Which"), rows)
    else:
        output.say("nothing is in the audit log" + (" since then." if since else " yet."))


def _at(line: Mapping[str, Fact]) -> datetime:
    """When it happened; 1970 for a line without a usable time, which is shown first."""
    try:
        found = datetime.fromisoformat(str(line.get("at")))
    except ValueError:
        return _BEGINNING
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _facts(line: Mapping[str, Fact]) -> str:
    told = ((name, fact) for name, fact in line.items() if name not in _KNOWN and fact not in (None, ""))
    return "  ".join(f"{name}={_word(fact)}" for name, fact in told)


def _word(fact: Fact) -> str:
    text = ("no", "yes")[fact] if isinstance(fact, bool) else str(fact)
    return text if text and text.isprintable() and " " not in text else json.dumps(text, ensure_ascii=False)
