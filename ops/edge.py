"""`strongroom edge`: the public half of a split Strongroom, until SIGTERM. As `ops.serve` does it for the other half."""

from __future__ import annotations

import os

import click

from ops import process


@click.command()
def command() -> None:
    """Run the public half of a split Strongroom: sign-in, tokens, and the way to the vault at home.

    Needs STRONGROOM_EDGE_KEY, the same as at home, and STRONGROOM_HOME_URL. It keeps nothing of the vault.
    Stops on SIGTERM within 10 seconds.
    """
    from service import logs
    from service import settings as settings_

    settings = settings_.load(os.environ)
    logs.configure(logs.to_stdout(), level=settings.log_level, log_format=settings.log_format)
    from service import edge

    edge.serve(settings)
    process.leave()
