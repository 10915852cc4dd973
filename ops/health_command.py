"""`strongroom health`: the health check, for a person. The check itself is `ops/health.py`, which must not need click."""

from __future__ import annotations

import click

from ops import exits, health


@click.command()
def command() -> int:
    """Ask the server on this machine whether it is ready.

    Prints one line and ends with 0 when it is, 1 when it is not. `strongroom doctor` says more.
    """
    return exits.OK if health.main() == 0 else exits.CHECK_FAILED
