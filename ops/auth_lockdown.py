"""`strongroom auth lockdown`: after a suspected theft, everything that could let anybody in ends, in one step."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ops import output

if TYPE_CHECKING:
    from service.auth.ending import Ended
    from service.settings import Settings

_SECRET: Final = "STRONGROOM_ORIGIN_SECRET"  # noqa: S105  # the name of a setting


@click.command()
@click.option("--yes", "is_yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the new secrets in it.")
def command(is_yes: bool, as_json: bool) -> None:
    """Let everything end that could let anybody in: after a lost device or a leaked token, when you do not know which.

    Every token, sign-in and passkey is revoked, clients that introduced themselves are switched off, and there is a new
    passphrase, shown this once. A running server closes every stream within a second. A new origin secret is made where one
    is set. The notes and their history stay as they are.
    """
    from ops import permits
    from service.auth import ending
    from service.auth.passphrase import INITIAL_FILE, Owner

    output.confirm("Revoke every token, sign-in and passkey, and replace the passphrase?", is_yes=is_yes)
    with permits.opened() as here:
        state = here.settings.state
        passphrase, store = Owner(here.database, state, here.clock).renewed()
        with here.database.transaction() as connection:
            ended = ending.lock_down(connection, here.clock.now())
            store(connection)
        (state / INITIAL_FILE).unlink(missing_ok=True)
        secret = secrets.token_hex(32) if here.settings.origin_secrets else None
        is_written = secret is not None and _is_written(secret, os.environ, here.settings)
        here.audit.note(
            "lockdown", grants=len(ended.grants), passkeys=ended.passkeys, clients=ended.clients, secret=is_written
        )
    if as_json:
        output.print_json(
            {
                "passphrase": passphrase,
                "origin_secret": secret,
                "origin_secret_written": is_written,
                "revoked": sorted(ended.grants),
                "passkeys": ended.passkeys,
                "clients": ended.clients,
            }
        )
    else:
        click.echo(f"Passphrase     {passphrase}")
        if secret is not None:
            click.echo(f"Origin secret  {secret}")
    _say_what_next(ended, is_written=is_written, has_secret=secret is not None)


def _is_written(secret: str, environ: Mapping[str, str], settings: Settings) -> bool:
    """Put the new origin secret where the old one came from, if that is ours: a file in the state folder.

    Elsewhere it is not: an engine's secret, for one, is a copy that the next start overwrites with the old value.
    """
    named = environ.get(f"{_SECRET}_FILE")
    if not named:
        return False
    path = Path(named)
    try:
        if not stat.S_ISREG(path.lstat().st_mode) or not path.resolve().is_relative_to(settings.state.resolve()):
            return False
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "w", encoding="ascii") as file:
                file.write(f"{secret}\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, path)
        except OSError:
            with contextlib.suppress(OSError):
                fresh.unlink()
            raise
    except OSError:
        return False
    return True


def _say_what_next(ended: Ended, *, is_written: bool, has_secret: bool) -> None:
    output.say(
        f"\nended: {output.counted(len(ended.grants), 'grant')} (tokens and sign-ins), {output.counted(ended.passkeys, 'passkey')}, "
        f"{output.counted(ended.clients, 'client')}. "
        "What is shown above is shown once."
    )
    steps = [
        "look at what was done: strongroom auth log, and strongroom history; take back what was not you: strongroom restore",
        "let your clients sign in again; where one says that it is unknown, remove its connector there and add it anew",
        "make new tokens for what cannot sign in (strongroom tokens create), and new passkeys (strongroom auth passkey add)",
    ]
    if has_secret:
        where = (
            "it is written where the old one was" if is_written else f"set it as {_SECRET}, where you set the old one"
        )
        steps.insert(
            0,
            f"the origin secret: {where}; give it to your proxy, and start Strongroom again. Until then the old holds",
        )
    if os.environ.get("STRONGROOM_EDGE_KEY") or os.environ.get("STRONGROOM_EDGE_KEY_FILE"):
        steps.insert(
            0, "the key between edge and home: make a new one if either machine was in other hands, on both of them"
        )
    for number, step in enumerate(steps, 1):
        output.say(f"{number}. {step}.")
