"""`strongroom auth lockdown`: nothing that was stolen is of use afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from argon2.profiles import CHEAPEST
from click.testing import CliRunner, Result

from ops.commands import strongroom
from service.auth import window
from service.auth.asked import Asked, Choice, Client
from service.auth.audit import Audit
from service.auth.flow import Flow
from service.auth.lifetimes import Lifetimes
from service.auth.model import SCOPES
from service.auth.passkeys import Passkeys
from service.auth.passphrase import INITIAL_FILE, Owner
from service.auth.pending import Approvals
from service.auth.tables import SCHEMA
from service.clock import SystemClock
from service.errors import Conflict, Refused
from service.settings.kinds import zone
from service.store.db import Database
from tests.support.rooms import settings_for

OLD = "0123456789abcdef0123456789abcdef-old"
CLOCK = SystemClock(zone("UTC"))
LEFT = {
    "grants": "SELECT count(*) FROM grant_ WHERE revoked IS NULL",
    "codes": "SELECT count(*) FROM code WHERE used IS NULL",
    "pending": "SELECT count(*) FROM pending WHERE used IS NULL",
    "passkeys": "SELECT count(*) FROM passkey",
    "passkey codes": "SELECT count(*) FROM passkey_code",
    "introduced clients": "SELECT count(*) FROM client WHERE kind = 'dcr' AND disabled IS NULL",
}


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """The state of a house in use."""
    settings = settings_for(tmp_path)
    settings.state.chmod(0o700)
    monkeypatch.setenv("STRONGROOM_VAULT", str(settings.vault))
    monkeypatch.setenv("STRONGROOM_STATE", str(settings.state))
    monkeypatch.setattr("argon2.profiles.RFC_9106_LOW_MEMORY", CHEAPEST)
    typed("tokens", "create", "--name", "laptop")
    with closing(Database(settings.state, [SCHEMA])) as opened:
        Owner(opened, settings.state, CLOCK).prepare()
        Passkeys(opened, CLOCK, "https://notes.example").new_code("phone")
        window.open_for(opened, CLOCK, 10)
        asked = Asked(Client("c1", "dcr", "App", None, ()), "https://a.example/cb", None, "", frozenset(), "")
        Approvals(opened, CLOCK).open(asked)
        with opened.transaction() as connection:
            connection.execute("INSERT INTO passkey VALUES (x'01', 'phone', x'', 0, 'notes.example', 1, NULL)")
            for client_id, kind in (("c1", "dcr"), ("https://a.example/c.json", "cimd")):
                connection.execute(
                    "INSERT INTO client (id, kind, name, redirect_uris, created) VALUES (?, ?, 'App', '[]', 1)",
                    (client_id, kind),
                )
            connection.execute(
                "INSERT INTO grant_ (id, kind, label, client_id, scopes, created) VALUES ('aaaaa2', 'oauth', 'App', 'c1', '', 1)"
            )
            connection.execute(
                "INSERT INTO code (hash, grant_id, client_id, challenge, redirect_uri, expires) "
                "VALUES (x'02', 'aaaaa2', 'c1', '', '', 99999999999)"
            )
        yield opened


def typed(*words: str) -> Result:
    return CliRunner().invoke(strongroom, words)


def left(database: Database) -> dict[str, int]:
    return {what: database.connection().execute(sql).fetchone()[0] for what, sql in LEFT.items()}


def test_everything_that_could_let_anybody_in_ends_and_one_new_passphrase_is_left(database: Database) -> None:
    """Issue 5: passphrase, origin secret and every token renewed or revoked in one step."""
    state = database.path.parent
    first = (state / INITIAL_FILE).read_text(encoding="ascii").strip()
    assert 0 not in left(database).values()
    done = typed("auth", "lockdown", "--yes", "--json")
    assert done.exit_code == 0, done.output
    assert set(left(database).values()) == {0}
    assert not window.is_open(database, CLOCK.now())
    owner = Owner(database, state, CLOCK)
    assert owner.matches(json.loads(done.stdout)["passphrase"])
    assert not owner.matches(first)
    assert not (state / INITIAL_FILE).exists()
    cimd = database.connection().execute("SELECT disabled FROM client WHERE kind = 'cimd'").fetchone()
    assert cimd["disabled"] is None, "a document is nobody's secret"


def test_it_is_one_step_so_what_fails_leaves_everything_as_it_was(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a lockdown would be taken for a whole one."""

    def fail(*_: object) -> None:
        raise Conflict("the disk broke.")

    before = left(database)
    monkeypatch.setattr(Owner, "_store", fail)
    assert isinstance(typed("auth", "lockdown", "--yes").exception, Conflict)
    assert left(database) == before


def test_without_a_yes_nothing_ends(database: Database) -> None:
    """Nobody is there to answer: it ends with 2."""
    before = left(database)
    assert typed("auth", "lockdown").exit_code == 2
    assert left(database) == before


def test_without_an_origin_secret_none_is_made(database: Database) -> None:
    """It would lock out whoever has no proxy that could send it."""
    done = typed("auth", "lockdown", "--yes")
    assert "Origin secret" not in done.output
    assert "origin secret" not in done.output
    assert left(database)["grants"] == 0


def test_an_origin_secret_that_is_not_ours_to_write_is_shown_with_what_to_change(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """auth.md 7.8: it stands in an environment or an engine's store."""
    monkeypatch.setenv("STRONGROOM_ORIGIN_SECRET", OLD)
    done = typed("auth", "lockdown", "--yes")
    (shown,) = (line.split()[-1] for line in done.stdout.splitlines() if line.startswith("Origin secret"))
    assert len(shown) == 64
    assert shown != OLD
    assert "set it as STRONGROOM_ORIGIN_SECRET" in done.stderr
    assert "start Strongroom again" in done.stderr
    assert left(database)["grants"] == 0


@pytest.mark.parametrize(("place", "is_ours"), [("state/origin", True), ("elsewhere", False), ("state/link", False)])
def test_a_file_in_the_state_gets_the_new_secret_and_no_other_file_does(
    database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str, is_ours: bool
) -> None:
    """An engine's secret is a copy: what is written there is gone at the next start, and the old one is back."""
    path = tmp_path / place
    if place.endswith("link"):
        (tmp_path / "target").write_text(OLD, encoding="ascii")
        path.symlink_to(tmp_path / "target")
    else:
        path.write_text(OLD + "\n", encoding="ascii")
    monkeypatch.setenv("STRONGROOM_ORIGIN_SECRET_FILE", str(path))
    told = json.loads(typed("auth", "lockdown", "--yes", "--json").stdout)
    assert told["origin_secret_written"] is is_ours
    assert path.read_text(encoding="ascii").strip() == (told["origin_secret"] if is_ours else OLD)
    if is_ours:
        assert path.stat().st_mode & 0o777 == 0o600
    assert left(database)["grants"] == 0


def test_the_audit_log_says_that_it_was_and_none_of_the_new_secrets(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """attack 84."""
    monkeypatch.setenv("STRONGROOM_ORIGIN_SECRET", OLD)
    told = json.loads(typed("auth", "lockdown", "--yes", "--json").stdout)
    *_, line = Audit(database.path.parent, CLOCK).lines()
    assert (line["event"], line["grants"], line["passkeys"], line["clients"]) == ("lockdown", 2, 1, 1)
    assert not {told["passphrase"], told["origin_secret"], OLD} & {str(fact) for fact in line.values()}


@pytest.mark.parametrize("command", [("auth", "lockdown", "--yes"), ("tokens", "revoke", "--all")])
def test_a_sign_in_that_was_just_being_answered_gets_nothing_any_more(
    database: Database, command: tuple[str, ...]
) -> None:
    """attack 79 for grants: between the owner's answer and the grant lies an instant, and everything ends in it."""
    client = Client("https://a.example/c.json", "cimd", "App", "a.example", ())
    asked = Asked(client, "https://a.example/cb", None, "c" * 43, frozenset(SCOPES), "r")
    audit = Audit(database.path.parent, CLOCK)
    lifetimes = Lifetimes.of(settings_for(database.path.parent.parent))
    flow = Flow("https://notes.example", database, CLOCK, audit, lifetimes)
    approvals, choice = Approvals(database, CLOCK), Choice(frozenset(SCOPES), (), 7)
    opened = approvals.open(asked)
    taken = approvals.take(opened.token, opened.cookie)
    assert taken is not None
    assert typed(*command).exit_code == 0
    with pytest.raises(Refused, match="everything was revoked"):
        flow.allow(taken, choice)
    assert left(database)["grants"] == 0
    later = approvals.open(asked)
    again = approvals.take(later.token, later.cookie)
    assert again is not None
    assert "code=" in flow.allow(again, choice)
