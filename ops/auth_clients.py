"""`strongroom auth clients`: the programs that may ask to be let in. To be known gives no access."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ops import output

if TYPE_CHECKING:
    from service.auth.clients import Known


@click.group(invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """The clients that may ask to be let in: list, add by URL, remove.

    To be known gives no access: each sign-in takes your word. What they were given is in `strongroom tokens list`.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool = False) -> None:
    """Show the clients there are.

    Those that come with Strongroom, those you added, and those that introduced themselves.
    """
    from ops import permits
    from ops.grant_list import shown

    with permits.opened() as here:
        found = here.clients.all()
    if as_json:
        output.print_json([_facts(one) for one in found])
        return
    rows = [
        (
            one.client.name,
            one.client.domain or "unverified",
            str(one.living_grants),
            shown(one.created) if one.created else "comes with Strongroom",
            shown(one.last_used),
            "switched off" if one.client.is_disabled else "",
            one.client.id,
        )
        for one in found
    ]
    output.print_table(("Name", "Host", "Sign-ins", "Known since", "Last seen", "State", "ID"), rows)


@command.command()
@click.argument("url")
@click.option("--yes", "is_yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def add(url: str, is_yes: bool, as_json: bool) -> None:
    """Take in a client that names itself by the URL of a document.

    The document is fetched, now, over https, from the host in the URL and nowhere else; the service itself never fetches
    anything. One that was removed is let in again.
    """
    from ops import permits

    with permits.opened() as here:
        known = here.clients.find(url)
        if known is not None and known.is_disabled:
            client = here.clients.enable(url)
        else:
            from ops import document

            output.confirm(f"Ask {url} for its document?", is_yes=is_yes)
            client = here.clients.add(url, document.fetch(url))
        here.audit.note("client_added", client=client.id, name=client.name)
    if as_json:
        output.print_json({"id": client.id, "name": client.name, "domain": client.domain})
    else:
        output.say(f"{client.name!r} of {client.domain or 'unknown host'} may ask now. It may send you back to:")
        for uri in client.redirect_uris:
            output.say(f"  {uri}")


@command.command()
@click.argument("word", metavar="ID|NAME|HOST")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def remove(word: str, as_json: bool) -> None:
    """Switch a client off, and revoke all it has.

    The same as `strongroom tokens revoke --client`. It is answered with an error until it introduces itself anew; one that
    names itself by URL stays off until you add it.
    """
    from ops import permits, tokens

    with permits.opened() as here:
        ended = tokens.ended_of_client(here, word)
    if as_json:
        output.print_json({"revoked": [grant.id for grant in ended]})
    else:
        output.say(f"switched off; {len(ended)} of its sign-ins were revoked.")


def _facts(known: Known) -> dict[str, output.Json]:
    client = known.client
    return {
        "id": client.id,
        "kind": client.kind,
        "name": client.name,
        "domain": client.domain,
        "verified": client.domain is not None,
        "disabled": client.is_disabled,
        "redirect_uris": list(client.redirect_uris),
        "sign_ins": known.living_grants,
        "created": known.created.isoformat() if known.created else None,
        "last_used": known.last_used.isoformat() if known.last_used else None,
    }
