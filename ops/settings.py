"""`strongroom settings`: what the appliance would run with, and where each value comes from. Secrets are left out."""

from __future__ import annotations

import os

import click

from ops import output


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script.")
def command(as_json: bool) -> None:
    """Show the settings in use, and where each comes from.

    A secret is shown as (set) or (not set). Ends with code 7, naming every problem, when the settings are wrong.
    """
    from service import settings
    from service.settings.table import TABLE

    shown = settings.redacted(settings.load(os.environ))
    sources = {row.name: settings.source(row, os.environ) for row in TABLE}
    if as_json:
        output.print_json({name: {"value": shown[name], "from": sources[name]} for name in shown})
        return
    output.print_table(["setting", "value", "from"], [[name, shown[name], sources[name]] for name in shown])
