"""`strongroom stdio VAULT`: one client on stdin and stdout. No network is used, and nothing else is written to stdout.

Beside a running service on the same state it joins that service through the owner's socket in the state folder: bytes
are passed on both ways and nothing heavy is imported, so it starts in the time Python takes. Without one it becomes the
server of that state itself.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import click

from ops import door, output, process

if TYPE_CHECKING:
    from service.settings import Settings

JOIN_WITHIN_S: Final = 6.0
"""How long to wait for a service that holds the state but does not answer yet."""

_RETRY_S: Final = 0.1
_PIECE_BYTES: Final = 65536


@click.command()
@click.argument("vault", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--read-only", "is_read_only", is_flag=True, help="Offer no tool that changes anything.")
def command(vault: Path | None, is_read_only: bool) -> None:
    """Speak MCP on stdin and stdout for one client on this machine.

    VAULT is the folder of notes; without it STRONGROOM_VAULT is. Without STRONGROOM_STATE the state is kept below
    ~/.local/state/strongroom, one folder a vault.
    """
    environ = environment(os.environ, vault)
    from service import settings as settings_

    settings = settings_.load(environ)
    deadline = time.monotonic() + JOIN_WITHIN_S
    while (joined := join(settings.state, settings.vault.resolve(), is_read_only)) is None:
        if _become_the_server(settings, is_read_only, is_last_try=time.monotonic() > deadline):
            process.leave()
        time.sleep(_RETRY_S)
    pass_on(joined)


def environment(environ: Mapping[str, str], vault: Path | None) -> dict[str, str]:
    """The settings of this run: the vault that was named, and a state folder of its own when none is set."""
    named = dict(environ)
    if vault is not None:
        named.pop("STRONGROOM_VAULT_FILE", None)
        named["STRONGROOM_VAULT"] = str(vault.resolve())
    if "STRONGROOM_STATE" not in named and "STRONGROOM_STATE_FILE" not in named and "STRONGROOM_VAULT" in named:
        home = Path(named.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        named["STRONGROOM_STATE"] = str(home / "strongroom" / state_name(Path(named["STRONGROOM_VAULT"]).resolve()))
    return named


def state_name(vault: Path) -> str:
    """The name of a vault's state folder: readable, and no two vaults share one."""
    words = re.sub(r"[^A-Za-z0-9._-]+", "-", vault.name).strip("-.")[:40] or "vault"
    return f"{words}-{hashlib.sha256(os.fsencode(vault)).hexdigest()[:12]}"


def join(state: Path, vault: Path, is_read_only: bool) -> socket.socket | None:
    """A session with the service that runs on `state`; None when none answers.

    Raises:
        Conflict: it serves another vault.
    """
    found = door.knock(state, {"vault": str(vault), "read_only": is_read_only})
    if found is None:
        return None
    connection, answer = found
    if answer.get("ok") is not True:
        from service.errors import Conflict

        connection.close()
        raise Conflict(f"{answer.get('error', 'the running service refused')}; name that vault, or another state.")
    return connection


def pass_on(connection: socket.socket) -> None:
    """Pass bytes between the client and the service until either ends the session."""
    is_over = threading.Event()

    def outwards() -> None:
        try:
            while piece := os.read(sys.stdin.fileno(), _PIECE_BYTES):
                connection.sendall(piece)
            is_over.set()
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            return  # the service is gone; the other direction notices

    threading.Thread(target=outwards, daemon=True).start()
    out: IO[bytes] = sys.stdout.buffer
    while piece := connection.recv(_PIECE_BYTES):
        out.write(piece)
        out.flush()
    if not is_over.is_set():
        output.say("strongroom: the service ended the session; start the client again.")


def _become_the_server(settings: Settings, is_read_only: bool, *, is_last_try: bool) -> bool:
    """Serve this client in this process; False when another process holds the state and may yet let us join.

    Raises:
        AlreadyServed: it did not.
    """
    from service import starting

    with starting.quickly():
        from service import app, logs
        from service.errors import AlreadyServed

    logs.configure(sys.stderr, level=settings.log_level, log_format=settings.log_format)

    try:
        app.serve_stdio(settings, is_read_only=is_read_only)
    except AlreadyServed:
        if is_last_try:
            raise
        return False
    return True
