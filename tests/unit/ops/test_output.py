"""What commands write: facts to stdout, sentences to stderr, nothing that drives a terminal."""

from __future__ import annotations

import io
import json
import sys

import click
import pytest

from ops import output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_json_is_the_only_thing_on_stdout_and_keeps_letters(capsys: pytest.CaptureFixture[str]) -> None:
    output.say("three notes:")
    output.print_json({"path": "hyvää yötä.md", "none": None, "list": [1, True, 0.5]})
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"path": "hyvää yötä.md", "none": None, "list": [1, True, 0.5]}
    assert "hyvää" in shown.out
    assert shown.err == "three notes:\n"


def test_a_name_that_is_not_utf_8_still_gives_valid_json(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    output.print_json({"path": b"caf\xe9.md".decode("utf-8", "surrogateescape")})
    sys.stdout.flush()
    assert json.loads(capfdbinary.readouterr().out.decode("utf-8")) == {"path": "caf\ufffd.md"}


def test_a_table_in_a_pipe_has_no_colour_no_border_and_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table(["note", "size"], [["[bold]a[/bold].md", "12"], [":smile:.md", "3"]])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "[bold]a[/bold].md" in shown
    assert ":smile:.md" in shown
    assert not set(shown) & set("│─━┃╭|")
    assert [line for line in shown.splitlines() if line != line.rstrip()] == []


def test_a_long_path_is_never_cut_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    path = "folder/" * 40 + "note.md"
    output.print_table(["note"], [[path]])
    assert path in capsys.readouterr().out


@pytest.mark.parametrize("char", ["\x1b", "\r", "\u202e", "\x07", "\x9b", "\udcff", "\x7f"])
def test_nothing_in_a_name_reaches_the_terminals_controls(char: str) -> None:
    assert output.printable(f"a{char}[2Jb") == "a\ufffd[2Jb"


@pytest.mark.parametrize("name", ["café", "日本語", "👩‍👩‍👧 family", "می‌خواهم", "wide\u3000blank", "tab\tand\nline"])
def test_ordinary_writing_is_shown_as_it_is(name: str) -> None:
    assert output.printable(name) == name


def test_asking_without_a_terminal_names_the_option_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    with pytest.raises(click.UsageError, match="--yes"):
        output.confirm("Restore 3 notes?", is_yes=False)


@pytest.mark.parametrize("answer", ["n\n", "\n"])
def test_any_answer_but_yes_stops(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    with pytest.raises(click.Abort):
        output.confirm("Restore 3 notes?", is_yes=False)


def test_yes_goes_on_and_leaves_stdout_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    output.confirm("Restore 3 notes?", is_yes=False)
    output.confirm("Restore 3 notes?", is_yes=True)
    assert capsys.readouterr().out == ""
