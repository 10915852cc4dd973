"""`strongroom serve`: the appliance over HTTP, until SIGTERM.

SIGTERM has a handler from the first line of `ops.__main__`; until the server takes it over, it ends the start at once.
"""

from __future__ import annotations

import os

import click

from ops import process


@click.command()
def command() -> None:
    """Run the appliance: MCP over HTTP, scheduler, history.

    Settings are STRONGROOM_* environment variables; see `strongroom settings`. Stops on SIGTERM within 10 seconds.
    """
    from service import logs
    from service import settings as settings_

    settings = settings_.load(os.environ)
    logs.configure(logs.to_stdout(), level=settings.log_level, log_format=settings.log_format)
    from service import app

    app.serve(settings)
    process.leave()
