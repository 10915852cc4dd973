"""`strongroom doctor`: look at everything, and say what to do about what is wrong.

Works beside a running server and without one. It writes nothing but small trial files, which it removes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import click

from ops import exits, output

if TYPE_CHECKING:
    from ops.checks.finding import Check, Finding, Patient


_OF_THE_VAULT: Final = frozenset(
    (
        "vault there",
        "vault readable",
        "vault writable",
        "file system and locks",
        "changes",
        "history",
        "scheduler",
        "leftovers",
        "links",
        "owners",
        "sync",
        "repositories",
        "names",
        "plugins",
    )
)
"""What the edge of a split Strongroom does not have; `port` there says whether home answers."""


def checks(*, at_the_edge: bool = False) -> Sequence[tuple[str, Check]]:
    """Every check by name, in order. The names are stable: scripts may rely on them."""
    return tuple(row for row in _all() if not (at_the_edge and row[0] in _OF_THE_VAULT))


def _all() -> Sequence[tuple[str, Check]]:
    from ops.checks import changes, past, places, plugins, public, running, signin, vault

    return (
        ("vault there", vault.is_there),
        ("vault readable", vault.is_readable),
        ("vault writable", vault.is_writable),
        ("file system and locks", places.file_systems),
        ("state private", places.is_private),
        ("history", past.history),
        ("scheduler", past.scheduler),
        ("port", running.port),
        ("clock and zone", running.clock),
        ("settings", places.settings_fit),
        ("leftovers", vault.leftovers),
        ("links", vault.links),
        ("owners", vault.owners),
        ("sync", vault.sync),
        ("repositories", vault.repositories),
        ("names", vault.names),
        ("plugins", plugins.plugins),
        ("changes", changes.seen),
        ("state files", signin.state_files),
        ("sign-in", signin.way_in),
        ("audit log", signin.audit_log),
        ("public address", public.address),
        ("origin secret", public.origin_secret),
    )


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script.")
def command(as_json: bool) -> int:
    """Check everything, and say what to do about what is wrong.

    Each check ends with ok, warn or FAIL. Ends with code 1 when one says FAIL. Works beside a running server (in its
    container, or with the same settings) and without one.
    """
    findings = list(examine(os.environ))
    is_sound = all(finding.verdict != "FAIL" for _, finding in findings)
    if as_json:
        output.print_json(
            {
                "ok": is_sound,
                "checks": [
                    {"name": name, "verdict": f.verdict.value, "found": f.found, "means": f.means, "do": f.todo}
                    for name, f in findings
                ],
            }
        )
    else:
        _show(findings)
    return exits.OK if is_sound else exits.CHECK_FAILED


def examine(environ: Mapping[str, str]) -> Iterator[tuple[str, Finding]]:
    """Do every check; when the settings cannot be read, that is the only finding."""
    from ops.checks.finding import Patient, fail
    from ops.opened import load_settings
    from service.clock import SystemClock
    from service.errors import BadSettings

    try:
        settings = load_settings(environ)
    except BadSettings as error:
        yield (
            "settings",
            fail("; ".join(error.problems), "nothing starts, and nothing else can be checked", "mend them"),
        )
        return
    patient = Patient(settings, SystemClock(settings.zone), environ)
    for name, check in checks(at_the_edge=settings.is_edge):
        yield name, _done(check, patient)


def _done(check: Check, patient: Patient) -> Finding:
    """One check; what stops it is its finding."""
    from ops.checks.finding import fail
    from service.errors import AppError

    try:
        return check(patient)
    except AppError as error:
        return fail(str(error), "this check could not be finished", "mend that first")
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
        return fail(what, "this check could not be finished", "see the checks above; they name the way out")


def _show(findings: Sequence[tuple[str, Finding]]) -> None:
    from rich.table import Table
    from rich.text import Text

    colours = {"ok": "green", "warn": "yellow", "FAIL": "bold red"}
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, finding in findings:
        table.add_row(Text(finding.verdict, colours[finding.verdict]), name, Text(output.printable(finding.found)))
        if finding.means:
            table.add_row("", "", Text(output.printable(f"This means: {finding.means}.")))
            table.add_row("", "", Text(output.printable(f"What to do: {finding.todo}.")))
    output.show(table)
    counts = {verdict: sum(finding.verdict == verdict for _, finding in findings) for verdict in colours}
    output.say(f"{counts['ok']} ok, {counts['warn']} warn, {counts['FAIL']} FAIL")
