"""`strongroom auth passphrase`: show the first one, set a new one, switch it off and on.

A passphrase comes from a prompt, a file or stdin, never from the command line, which other programs can read (attack 87).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ops import output

if TYPE_CHECKING:
    from ops.permits import Permits
    from service.auth.passphrase import Owner

_MAX_CHARS: Final = 10_000


@click.command()
@click.option(
    "--show-initial", "how", flag_value="show", help="Show the one that was made at the first start. Works once."
)
@click.option("--generate", "how", flag_value="generate", help="Make a new one and show it.")
@click.option("--off", "how", flag_value="off", help="Let passkeys be the only way in.")
@click.option("--on", "how", flag_value="on", help="Let the passphrase count again.")
@click.option("--file", type=click.Path(path_type=Path), help="Read the new one from this file (- is stdin).")
@click.option(
    "--revoke-all/--keep", "revokes", default=None, help="Revoke every token and sign-in too; else you are asked."
)
def command(how: str | None, file: Path | None, revokes: bool | None) -> None:
    """Set the passphrase with which you sign in; asks for it, or reads it from stdin.

    Sign-ins that wait begin anew. What was let in before stays in unless you say --revoke-all. A lost passphrase is no
    matter here: whoever is at this machine sets a new one.
    """
    if file is not None and how is not None:
        raise click.UsageError("--file gives a new passphrase, so it goes with none of the others.")
    if revokes and how in ("show", "off", "on"):
        raise click.UsageError("--revoke-all goes with a new passphrase.")
    from ops import permits
    from service.auth.passphrase import Owner

    with permits.opened() as here:
        owner = Owner(here.database, here.settings.state, here.clock)
        match how:
            case "show":
                _show_initial(owner)
            case "off" | "on":
                _switch(here, owner, is_on=how == "on")
            case _:
                _set(here, owner, file, revokes=revokes, is_generated=how == "generate")


def _show_initial(owner: Owner) -> None:
    from service.errors import Conflict

    owner.prepare()
    found = owner.reveal_initial()
    if found is None:
        raise Conflict(
            "it was shown before, or another was set since; make a new one with: strongroom auth passphrase --generate"
        )
    click.echo(found)
    output.say("this is the passphrase with which you let clients in. It is not shown again.")


def _switch(here: Permits, owner: Owner, *, is_on: bool) -> None:
    from service.auth.passkeys import Passkeys
    from service.errors import Conflict

    if is_on:
        owner.switch_on()
    elif not Passkeys(here.database, here.clock, here.settings.base_url()).usable():
        raise Conflict(
            f"there is no passkey that can be used at {here.settings.base_url()}, so nobody could sign in; add one with: "
            "strongroom auth passkey add --name phone"
        )
    else:
        owner.switch_off()
    here.audit.note("passphrase_changed", what="on" if is_on else "off")
    output.say("the passphrase counts again." if is_on else "from now on only passkeys let anybody in.")


def _set(here: Permits, owner: Owner, file: Path | None, *, revokes: bool | None, is_generated: bool) -> None:
    from service.auth import ending

    made = owner.renew() if is_generated else None
    if made is None:
        owner.set(_given(file))
    here.audit.note("passphrase_changed", what="generated" if is_generated else "set")
    if made is not None:
        click.echo(made)
        output.say("this is the only time it is shown.")
    if revokes is None:
        revokes = sys.stdin.isatty() and click.confirm("Revoke every token and sign-in too?", default=False, err=True)
    if revokes:
        with here.database.transaction() as connection:
            ended = ending.end_everything(connection, here.clock.now(), "passphrase")
        here.audit.note("revoke", what="all", grants=", ".join(sorted(ended)))
        output.say(f"set, and {len(ended)} tokens and sign-ins were revoked.")
    else:
        output.say("set. What was let in before stays in; see strongroom tokens list.")


def _given(file: Path | None) -> str:
    """The new passphrase, from the file, the terminal or stdin.

    Raises:
        BadArgument: it is not one line of text.
    """
    from service.errors import BadArgument

    if file is not None and str(file) != "-":
        try:
            with file.open(encoding="utf-8") as opened:
                text = opened.read(_MAX_CHARS)
        except OSError as error:
            raise BadArgument(f"the file {str(file)!r} cannot be read ({error.strerror}).") from error
        except UnicodeDecodeError:
            raise BadArgument(f"the file {str(file)!r} is not UTF-8 text; write the passphrase into it anew.") from None
    elif file is None and sys.stdin.isatty():
        return str(click.prompt("New passphrase", hide_input=True, confirmation_prompt="Once more", err=True))
    else:
        text = sys.stdin.read(_MAX_CHARS)
    text = text.removesuffix("\n").removesuffix("\r")
    if "\n" in text or not text.strip():
        raise BadArgument("a passphrase is one line; give it alone.")
    return text
