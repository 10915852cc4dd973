"""`strongroom commit`: put whatever changed into history, now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from ops import output, timeline

if TYPE_CHECKING:
    from service.history.model import CommitReport

_LISTED: Final = 20


@click.command()
@click.option(
    "--accept-deletions",
    is_flag=True,
    help="Most notes are gone, and you mean it: commit that. (History keeps them all.)",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script.")
def command(accept_deletions: bool, as_json: bool) -> None:
    """Commit whatever changed in the vault, now.

    What tools wrote becomes one commit for each token, the rest one commit more. Nothing changed, no commit. A running
    server does this by itself; the two do not get into each other's way.
    """
    from service.history.model import Deletions

    deletions = Deletions.ACCEPT if accept_deletions else Deletions.GUARD
    with timeline.opened() as history:
        report = history.commit("command", deletions=deletions, may_use_child=False)
        lines = [(commit, history.log.revision(commit).subject) for commit in report.commits]
    if as_json:
        output.print_json(_facts(report))
        return
    for commit, subject in lines:
        click.echo(f"{commit[: timeline.ID_CHARS]}  {output.printable(subject)}")
    if not lines:
        output.say("nothing has changed since the last commit.")
    _tell(report)


def _tell(report: CommitReport) -> None:
    for sentence in report.healed:
        output.say(f"healed: {sentence}")
    for path in report.emptied[:_LISTED]:
        output.say(f"now empty: {path}")
    for problem in report.problems[:_LISTED]:
        output.say(f"left as it was in history: {problem}")
    if len(report.problems) > _LISTED:
        output.say(f"... and {len(report.problems) - _LISTED:,} more; --json lists them.")


def _facts(report: CommitReport) -> dict[str, output.Json]:
    return {
        "commits": list(report.commits),
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "emptied": list(report.emptied),
        "healed": list(report.healed),
        "problems": [{"path": problem.path, "why": problem.trouble.value} for problem in report.problems],
    }
