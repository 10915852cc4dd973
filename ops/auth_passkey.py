"""`strongroom auth passkey`: sign in with a phone's or laptop's own lock instead of the passphrase.

A passkey is made in a browser; what is made here is the code that lets the browser do so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from ops import output

if TYPE_CHECKING:
    from ops.permits import Permits
    from service.auth.passkeys import Passkey, Passkeys

PATH: Final = "/oauth/passkey/add"


@click.group()
def command() -> None:
    """Passkeys: sign in with your phone's or laptop's own lock instead of the passphrase.

    They belong to the address in STRONGROOM_PUBLIC_URL, which has to be https (or http://localhost).
    """


@command.command()
@click.option("--name", required=True, help="Your word for it, such as phone.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def add(name: str, as_json: bool) -> None:
    """Make a code with which a browser can make a passkey.

    It is good once, for ten minutes.
    """
    from service.auth.passkeys import CODE_LIFETIME_S

    with _passkeys() as (passkeys, here):
        code = passkeys.new_code(name)
        url = here.settings.base_url() + PATH
        here.audit.note("passkey_code_made", name=name)
    if as_json:
        output.print_json({"url": url, "code": code, "seconds": CODE_LIFETIME_S})
        return
    click.echo(f"{url}\n{code}")
    output.say(
        f"open this address on the device and type the code within {CODE_LIFETIME_S // 60} minutes. "
        "Whoever has both can sign in as you from then on, so show them to nobody."
    )


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """Show the passkeys there are.

    One that was made for another address cannot be used.
    """
    with _passkeys() as (passkeys, here):
        found = passkeys.all()
        usable = {passkey.id for passkey in found if passkeys.is_usable(passkey)}
        zone, hindrance = here.settings.zone, passkeys.site.hindrance
    if as_json:
        output.print_json([_facts(one, is_usable=one.id in usable) for one in found])
        return
    if found:
        rows = [
            (
                one.name,
                one.rp_id,
                f"{one.created.astimezone(zone):%Y-%m-%d %H:%M}",
                f"{one.last_used.astimezone(zone):%Y-%m-%d %H:%M}" if one.last_used else "never",
                "yes" if one.id in usable else "no: the address changed",
            )
            for one in found
        ]
        output.print_table(("Name", "Made for", "Made", "Last used", "Usable"), rows)
    else:
        output.say("there are no passkeys; make one with: strongroom auth passkey add --name phone")
    if hindrance is not None:
        output.say(hindrance)


@command.command()
@click.argument("name")
@click.option("--force", "is_forced", is_flag=True, help="Even the last one while the passphrase is switched off.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def remove(name: str, is_forced: bool, as_json: bool) -> None:
    """Forget a passkey, such as that of a lost phone.

    It opens nothing from now on. What it let in before stays in: see strongroom tokens list.
    """
    with _passkeys() as (passkeys, here):
        gone = passkeys.remove(name, leaving_one=not is_forced and _is_passphrase_off(here))
        here.audit.note("passkey_removed", name=gone.name)
        is_usable = passkeys.is_usable(gone)
    if as_json:
        output.print_json(_facts(gone, is_usable=is_usable))
    else:
        output.say(f"forgotten: {gone.name!r}. What it let in before stays in; see strongroom tokens list.")


@contextmanager
def _passkeys() -> Iterator[tuple[Passkeys, Permits]]:
    from ops import permits
    from service.auth.passkeys import Passkeys

    with permits.opened() as here:
        yield Passkeys(here.database, here.clock, here.settings.base_url()), here


def _is_passphrase_off(here: Permits) -> bool:
    from service.auth.passphrase import Owner

    return Owner(here.database, here.settings.state, here.clock).is_off()


def _facts(passkey: Passkey, *, is_usable: bool) -> dict[str, str | bool | None]:
    used = passkey.last_used
    return {
        "name": passkey.name,
        "rp_id": passkey.rp_id,
        "created": passkey.created.isoformat(),
        "last_used": None if used is None else used.isoformat(),
        "usable": is_usable,
    }
