"""The console script: what a person gets to see when a command ends, well or badly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest

from ops import __main__ as door
from ops import commands, exits
from service import errors
from service.errors import AppError

HERE = Path(__file__).resolve().parents[3]
SECRET = "the pills are behind the clock"


def python(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=HERE, env=os.environ | environ, capture_output=True, text=True, timeout=30
    )


def failing_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `strongroom doctor` raise `error`."""

    @click.command()
    def command() -> None:
        raise error

    monkeypatch.setattr(commands, "load", lambda _row: command)


def test_help_names_every_command_and_imports_nothing_heavy() -> None:
    """House: nothing heavy is imported before a command needs it."""
    code = (
        "import sys; from ops.__main__ import main\n"
        "assert main(['--help']) == 0\n"
        "heavy = {'mcp', 'dulwich', 'starlette', 'uvicorn', 'pydantic', 'apscheduler', 'structlog', 'rich'}\n"
        "sys.exit(','.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    result = python("-c", code)
    assert (result.returncode, result.stderr) == (0, "")
    for row in commands.TABLE:
        assert row.name in result.stdout


def test_the_script_runs_as_a_module_and_names_itself_strongroom() -> None:
    result = python("-m", "ops", "--help")
    assert result.returncode == 0
    assert result.stdout.startswith("Usage: strongroom ")


@pytest.mark.parametrize("arguments", [["nonsense"], ["--nonsense"]])
def test_a_line_that_cannot_be_understood_ends_with_the_usage_code(arguments: Sequence[str]) -> None:
    result = python("-m", "ops", *arguments)
    assert result.returncode == exits.USAGE
    assert "Traceback" not in result.stderr


def test_a_misspelt_command_is_answered_with_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert door.main(["docter"]) == exits.USAGE
    assert "No such command 'docter'. Did you mean 'doctor'?" in capsys.readouterr().err


def test_every_branch_of_errors_has_an_exit_code_of_its_own() -> None:
    branches = {row.branch: row.number for row in exits.TABLE if row.branch is not None}
    assert set(branches) == set(AppError.__subclasses__())
    assert len({row.number for row in exits.TABLE}) == len(exits.TABLE)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.NoteNotFound("Inbox/Ideas.md"), exits.NOT_FOUND),
        (errors.PathRefused("HIDDEN_PATH", "hidden files are out of reach."), exits.REFUSED),
        (errors.NoteExists("Inbox/Ideas.md"), exits.CONFLICT),
        (errors.Busy("the vault", 3), exits.UNAVAILABLE),
        (errors.BadMount("the state folder is read-only."), exits.MISCONFIGURED),
        (AppError("of no branch."), exits.INTERNAL),
    ],
)
def test_a_failure_we_know_is_one_sentence_on_stderr_and_its_branchs_code(
    error: AppError, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing_with(error, monkeypatch)
    assert door.main(["doctor"]) == code
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", f"strongroom: {error}\n")


def test_every_problem_of_the_settings_gets_its_own_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing_with(errors.BadSettings(["A: too small", "B: too large"]), monkeypatch)
    assert door.main(["doctor"]) == exits.MISCONFIGURED
    assert capsys.readouterr().err == "strongroom: A: too small\nstrongroom: B: too large\n"


def test_what_a_user_may_not_touch_is_no_bug_but_something_to_mend(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lock file that root made, say, with `docker exec -u 0`."""
    failing_with(PermissionError(13, "Permission denied", "/state/writer.lock"), monkeypatch)
    assert door.main(["doctor"]) == exits.MISCONFIGURED
    shown = capsys.readouterr().err
    assert "may not use '/state/writer.lock' (Permission denied); run this as its owner" in shown


def test_a_bug_is_one_line_that_repeats_nothing_of_what_it_stumbled_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown exception may quote a note."""
    monkeypatch.delenv("STRONGROOM_LOG_LEVEL", raising=False)
    failing_with(KeyError(SECRET), monkeypatch)
    assert door.main(["doctor"]) == exits.INTERNAL
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "KeyError" in shown
    assert "STRONGROOM_LOG_LEVEL=debug" in shown
    assert SECRET not in shown


def test_debug_shows_where_a_bug_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("STRONGROOM_LOG_LEVEL", "debug")
    failing_with(KeyError("x"), monkeypatch)
    assert door.main(["doctor"]) == exits.INTERNAL
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("error", [KeyboardInterrupt(), EOFError(), click.Abort()])
def test_interrupting_ends_with_its_code_and_without_a_traceback(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing_with(error, monkeypatch)
    assert door.main(["doctor"]) == exits.INTERRUPTED
    assert capsys.readouterr().err.strip() == "strongroom: nothing was done."


def test_sigterm_ends_a_command_with_its_clean_up_done() -> None:
    """House, fact 5: process 1 without a handler ignores SIGTERM."""
    code = (
        "import os, signal, sys, click; from ops import commands; from ops.__main__ import main\n"
        "@click.command()\n"
        "def command():\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGTERM); signal.pause()\n"
        "    finally:\n"
        "        print('cleaned up')\n"
        "commands.load = lambda row: command\n"
        "sys.exit(main(['doctor']))"
    )
    result = python("-c", code)
    assert (result.returncode, result.stdout, result.stderr) == (exits.TERMINATED, "cleaned up\n", "")
    assert exits.TERMINATED == 128 + signal.SIGTERM


@pytest.mark.parametrize("printing", ["click.echo('x' * 70000)", "output.print_table(['a'], [['x']] * 9000)"])
def test_a_reader_that_stops_reading_is_no_failure_worth_a_line(printing: str) -> None:
    """`strongroom history | head -1`"""
    code = (
        "import sys, click; from ops import commands, output; from ops.__main__ import main\n"
        "@click.command()\n"
        f"def command(): [{printing} for _ in range(9)]\n"
        "commands.load = lambda row: command\n"
        "sys.exit(main(['doctor']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        complaint = process.stderr.read()
    assert (process.returncode, complaint) == (exits.PIPE_CLOSED, b"")


def _groups(command: click.Command, words: str) -> Iterator[tuple[str, click.Group]]:
    if isinstance(command, click.Group):
        yield words, command
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _groups(below, f"{words} {name}")


def test_no_list_of_commands_breaks_off_in_the_middle_of_a_sentence() -> None:
    """A person who forgot a command reads these lines; click cuts the long ones short."""
    groups = dict(_groups(commands.strongroom, "strongroom"))
    assert {"strongroom", "strongroom auth", "strongroom auth passkey", "strongroom tokens"} <= set(groups)
    for words, group in groups.items():
        told = group.get_help(click.Context(group, info_name=words, terminal_width=80))
        assert [line for line in told.splitlines() if line.endswith("...") and "[OPTIONS]" not in line] == []
