"""Every command: its name, the module that holds it, and one line of help.

A module of a command exposes `command`, a click command, which returns its exit code (None is 0). It is imported when it is
called, not before, so that `strongroom --help` costs no more than click itself.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Final

import click

from ops import exits


@dataclass(frozen=True, slots=True)
class Row:
    """One command. `help_line` is shown in the list, so that listing needs no import."""

    name: str
    module: str
    help_line: str


TABLE: Final[Sequence[Row]] = (
    Row("serve", "ops.serve", "Run the appliance: MCP over HTTP, scheduler, history."),
    Row("edge", "ops.edge", "Run the public half of a split Strongroom, in front of the vault at home."),
    Row("stdio", "ops.stdio", "Speak MCP on stdin and stdout for one client on this machine."),
    Row("tokens", "ops.tokens", "Make, list and revoke what clients come in with: tokens and sign-ins."),
    Row("auth", "ops.auth", "Signing in: approve, passphrase, passkeys, clients, the audit log."),
    Row("commit", "ops.commit", "Commit whatever changed in the vault, now."),
    Row("history", "ops.history", "Show what changed, in the vault or in one note."),
    Row("restore", "ops.restore", "Bring notes, folders or the whole vault back as they were."),
    Row("hidden", "ops.hidden", "Show what assistants are not shown of the notes."),
    Row("doctor", "ops.doctor", "Check everything, and say what to do about what is wrong."),
    Row("backup", "ops.backup", "Write vault, history and state into one verified archive."),
    Row("restore-backup", "ops.restore_backup", "Unpack such an archive into an empty vault and state."),
    Row("settings", "ops.settings", "Show the settings in use, secrets left out."),
    Row("health", "ops.health_command", "Ask the server on this machine whether it is ready."),
)


class LazyGroup(click.Group):
    """A group whose commands are the rows of a table; a group within has its own (`ops.auth`)."""

    rows: Sequence[Row] = ()

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the last flush complains
            ctx.exit(exits.PIPE_CLOSED)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return [row.name for row in self.rows]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        for row in self.rows:
            if row.name == cmd_name:
                return load(row)
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], names, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(row.name, row.help_line) for row in self.rows])


def load(row: Row) -> click.Command:
    """Import one command."""
    found: object = import_module(row.module).command
    if not isinstance(found, click.Command):
        raise TypeError(f"{row.module}.command is no click command")
    return found


def version() -> str:
    """The version that is installed; `unknown` in a checkout that is not."""
    try:
        return metadata.version("strongroom")
    except metadata.PackageNotFoundError:
        return "unknown"


def _print_version(ctx: click.Context, _parameter: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        click.echo(f"strongroom {version()}")
        ctx.exit()


class Strongroom(LazyGroup):
    """The commands of `TABLE`."""

    rows = TABLE


@click.group(
    cls=Strongroom,
    name="strongroom",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Settings are STRONGROOM_* environment variables; `strongroom settings` shows those in use.",
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Show the version."
)
def strongroom() -> None:
    """Safe access for AI assistants to a folder of notes, and its whole history for you."""
