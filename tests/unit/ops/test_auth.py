"""`strongroom auth`: the group, and its commands that need no more than the state."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ops.auth import TABLE
from ops.commands import load, strongroom
from service.auth import window
from service.auth.audit import Audit
from service.auth.tables import SCHEMA
from service.clock import SystemClock
from service.errors import BadArgument, Conflict
from service.store.db import Database
from tests.support.rooms import settings_for


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings = settings_for(tmp_path)
    monkeypatch.setenv("STRONGROOM_VAULT", str(settings.vault))
    monkeypatch.setenv("STRONGROOM_STATE", str(settings.state))
    return settings.state


def typed(*words: str) -> Result:
    return CliRunner().invoke(strongroom, ["auth", *words])


def audit(state: Path) -> Audit:
    return Audit(state, SystemClock(settings_for(state.parent).zone))


def test_every_command_of_the_group_is_there_and_listed() -> None:
    """Issue 5: `strongroom auth approve CODE | passphrase | passkey | clients | open --minutes N | log`."""
    shown = typed("--help").stdout
    for row in TABLE:
        assert row.help_line.split()[0] in shown
        assert load(row).name is not None
    assert "Did you mean 'open'" in typed("opne").output


def test_a_window_is_opened_and_shut_by_itself_or_by_hand(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """auth.md 7.2: `auth open --minutes 10` opens registration only while the owner adds a connector."""
    monkeypatch.setenv("STRONGROOM_REGISTRATION", "window")
    until = datetime.fromisoformat(json.loads(typed("open", "--minutes", "10", "--json").stdout)["until"])
    database, clock = Database(state, [SCHEMA]), SystemClock(settings_for(state.parent).zone)
    assert window.is_open(database, clock.now())
    assert not window.is_open(database, until)
    assert typed("open", "--minutes", "0").exit_code == 0
    assert not window.is_open(database, clock.now())
    assert [line["minutes"] for line in audit(state).lines()] == [10, 0]


def test_a_window_that_a_clock_set_back_would_keep_open_for_years_counts_as_shut(state: Path) -> None:
    """attack 57: clocks jump."""
    database, clock = Database(state, [SCHEMA]), SystemClock(settings_for(state.parent).zone)
    until = window.open_for(database, clock, 5)
    assert not window.is_open(database, until.replace(year=until.year - 1))


@pytest.mark.parametrize("minutes", ["-1", "1441"])
def test_a_window_of_no_sensible_length_is_refused(state: Path, monkeypatch: pytest.MonkeyPatch, minutes: str) -> None:
    """auth.md 7.2: a window is a short thing."""
    monkeypatch.setenv("STRONGROOM_REGISTRATION", "window")
    assert isinstance(typed("open", "--minutes", minutes).exception, BadArgument)
    assert not list(audit(state).lines())


def test_a_window_where_the_settings_know_none_is_refused_with_the_setting(state: Path) -> None:
    """style.md, Errors: a sentence with a way out."""
    refused = typed("open", "--minutes", "10").exception
    assert isinstance(refused, Conflict)
    assert "STRONGROOM_REGISTRATION" in str(refused)


def test_the_audit_log_is_shown_as_lines_and_as_a_table_without_what_drives_a_terminal(state: Path) -> None:
    """auth.md 7.9: `strongroom auth log --since`; attack 27: names come from strangers."""
    audit(state).note("register", client="c1", name="Evil\x1b[2J \u202egnp")
    audit(state).note("login_fail", address="192.0.2.7")
    lines = [json.loads(line) for line in typed("log", "--json").stdout.splitlines()]
    assert [line["event"] for line in lines] == ["register", "login_fail"]
    shown = typed("log").stdout
    assert "address=192.0.2.7" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert typed("log", "--since", "now").exit_code == 0


def test_the_table_of_the_audit_log_says_yes_and_no_and_leaves_out_what_is_empty(state: Path) -> None:
    """For a person; JSON keeps every fact as it is."""
    audit(state).note("token_created", grant="abc234", write=True, folders="", days=0)
    audit(state).note("client_unknown", client=None, is_disabled=False)
    shown = typed("log").stdout
    for words in ("write=yes", "is_disabled=no", "days=0"):
        assert words in shown
    assert "folders" not in shown
    assert "client=" not in shown
    assert json.loads(typed("log", "--json").stdout.splitlines()[0])["folders"] == ""


def test_a_line_that_somebody_else_wrote_into_the_log_stops_nothing(state: Path) -> None:
    """A log that was mended by hand is still a log."""
    audit(state).note("deny")
    with (state / "audit.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"at": 7}\nnot json\n[]\n')
    done = typed("log")
    assert done.exit_code == 0
    assert "deny" in done.stdout
