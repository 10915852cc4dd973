"""`strongroom auth passphrase`: from a prompt, a file or stdin, and never from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from argon2.profiles import CHEAPEST
from click.testing import CliRunner, Result

from ops import exits
from ops.__main__ import main
from ops.commands import strongroom
from service.auth.audit import Audit
from service.auth.passphrase import INITIAL_FILE, Owner
from service.auth.tables import SCHEMA
from service.clock import SystemClock
from service.errors import BadArgument, Conflict
from service.store.db import Database
from tests.support.rooms import settings_for

GOOD = "copper lantern under the old pier"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings = settings_for(tmp_path)
    monkeypatch.setenv("STRONGROOM_VAULT", str(settings.vault))
    monkeypatch.setenv("STRONGROOM_STATE", str(settings.state))
    monkeypatch.setattr("argon2.profiles.RFC_9106_LOW_MEMORY", CHEAPEST)
    settings.state.chmod(0o700)
    return settings.state


def typed(*words: str, text: str = "") -> Result:
    return CliRunner().invoke(strongroom, ["auth", "passphrase", *words], input=text)


@contextmanager
def owner_of(state: Path) -> Iterator[Owner]:
    with closing(Database(state, [SCHEMA])) as database:
        yield Owner(database, state, SystemClock(settings_for(state.parent).zone))


def matches(state: Path, words: str) -> bool:
    with owner_of(state) as owner:
        return owner.matches(words)


def test_the_first_passphrase_is_shown_once(state: Path) -> None:
    """decisions.md 8: `--show-initial` works once."""
    with owner_of(state) as owner:
        owner.prepare()
    shown = typed("--show-initial")
    assert (shown.exit_code, shown.stdout.count("\n")) == (0, 1)
    assert matches(state, shown.stdout)
    assert not (state / INITIAL_FILE).exists()
    again = typed("--show-initial")
    assert isinstance(again.exception, Conflict)
    assert "--generate" in str(again.exception)


def test_a_new_one_comes_from_stdin_or_a_file_and_ends_the_old_one(state: Path, tmp_path: Path) -> None:
    """attack 87: never argv."""
    assert typed(text=GOOD + "\n").exit_code == 0
    assert matches(state, GOOD)
    (tmp_path / "file").write_text("another one of several words\r\n", encoding="utf-8")
    assert typed("--file", str(tmp_path / "file")).exit_code == 0
    assert matches(state, "another one of several words")
    assert not matches(state, GOOD)
    assert typed("--file", "-", text=GOOD).exit_code == 0
    assert matches(state, GOOD)


def test_a_passphrase_on_the_command_line_is_no_way_to_give_one(state: Path) -> None:
    """attack 87: other programs see it there."""
    assert typed(GOOD).exit_code == 2
    assert not matches(state, GOOD)


@pytest.mark.parametrize(
    ("text", "why"),
    [("short\n", "15"), ("\n", "one line"), ("two lines of\nsome words\n", "one line"), ("a" * 20, "repeats")],
)
def test_a_weak_one_is_refused_with_a_sentence_that_does_not_repeat_it(state: Path, text: str, why: str) -> None:
    """Issue 5: a strength floor with a clear sentence; attack 87."""
    refused = typed(text=text)
    assert isinstance(refused.exception, BadArgument)
    assert why in str(refused.exception)
    assert text.strip() == "" or text.strip() not in str(refused.exception)
    with owner_of(state) as owner:
        assert not owner.has_passphrase()


def test_one_is_made_on_request_and_stands_alone_on_stdout(state: Path) -> None:
    """output.py: facts to stdout."""
    made = typed("--generate")
    assert made.stdout.count("\n") == 1
    assert len(made.stdout.split()) >= 6
    assert matches(state, made.stdout)


def test_everything_is_revoked_with_it_on_request_only(state: Path) -> None:
    """auth.md 7.7: asks whether to revoke all; who is not there to be asked keeps what there is."""
    CliRunner().invoke(strongroom, ["tokens", "create", "--name", "laptop"])
    for words, left in ((("--keep",), 1), ((), 1), (("--revoke-all",), 0)):
        assert typed(*words, text=GOOD).exit_code == 0
        listed = CliRunner().invoke(strongroom, ["tokens", "list", "--json"])
        assert len(json.loads(listed.stdout)) == left


def test_it_is_switched_off_only_when_something_else_lets_the_owner_in(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5: passphrase stays as fallback and can be switched off. A passkey of an earlier address lets nobody in."""
    typed(text=GOOD)
    assert isinstance(typed("--off").exception, Conflict)
    with closing(Database(state, [SCHEMA])) as database:
        database.connection().execute("INSERT INTO passkey VALUES (x'01', 'phone', x'', 0, 'a.example', 1, NULL)")
    monkeypatch.setenv("STRONGROOM_PUBLIC_URL", "https://b.example")
    assert isinstance(typed("--off").exception, Conflict)
    monkeypatch.setenv("STRONGROOM_PUBLIC_URL", "https://a.example")
    assert typed("--off").exit_code == 0
    assert not matches(state, GOOD)
    assert typed("--on").exit_code == 0
    assert matches(state, GOOD)


@pytest.mark.parametrize("words", [("--generate", "--file", "x"), ("--show-initial", "--revoke-all")])
def test_options_that_do_not_go_together_are_told_apart(state: Path, words: tuple[str, ...]) -> None:
    """Nothing is done by half."""
    assert typed(*words).exit_code == 2
    assert not list(state.glob("audit*"))


def test_no_passphrase_stands_in_audit_log_or_output(state: Path) -> None:
    """attack 84, attack 87."""
    done = typed(text=GOOD)
    made = typed("--generate").stdout.strip()
    lines = [line["what"] for line in Audit(state, SystemClock(settings_for(state.parent).zone)).lines()]
    assert lines == ["set", "generated"]
    log = (state / "audit.jsonl").read_text(encoding="utf-8")
    assert GOOD not in log + done.output
    assert made not in log


def test_a_bug_told_with_its_place_does_not_tell_the_passphrase(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """attack 87: not in tracebacks, even where debug shows them."""

    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(Owner, "_store", broken)
    monkeypatch.setenv("STRONGROOM_LOG_LEVEL", "debug")
    (state.parent / "file").write_text(GOOD, encoding="utf-8")
    assert main(["auth", "passphrase", "--file", str(state.parent / "file")]) == exits.INTERNAL
    said = "".join(capsys.readouterr())
    assert "Traceback" in said
    assert "copper" not in said
