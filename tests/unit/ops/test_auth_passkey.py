"""`strongroom auth passkey`: a code for a new one, the list, and forgetting one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ops.commands import strongroom
from service.auth.passkeys import Passkeys, normal
from service.auth.tables import SCHEMA
from service.clock import SystemClock
from service.errors import Conflict, Misconfigured
from service.store.db import Database
from tests.support.authenticator import Authenticator
from tests.support.rooms import settings_for

BASE = "https://notes.example.org"
COOKIE = b"c" * 32


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings = settings_for(tmp_path)
    monkeypatch.setenv("STRONGROOM_VAULT", str(settings.vault))
    monkeypatch.setenv("STRONGROOM_STATE", str(settings.state))
    monkeypatch.setenv("STRONGROOM_PUBLIC_URL", BASE)
    monkeypatch.setenv("TZ", "UTC")
    return settings.state


def typed(*words: str) -> Result:
    return CliRunner().invoke(strongroom, ["auth", "passkey", *words])


def said(*words: str) -> object:
    result = typed(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def made(state: Path, name: str, base: str = BASE) -> None:
    """A passkey, made with a code from the command line as a browser would make it."""
    code = typed("add", "--name", name).stdout.split()[1]
    database = Database(state, (SCHEMA,))
    keys = Passkeys(database, SystemClock(settings_for(state.parent).zone), base)
    keys.finish_making(Authenticator().make(keys.begin_making(code, COOKIE), origin=base), COOKIE)
    database.close()


def audit(state: Path) -> str:
    return (state / "audit.jsonl").read_text()


def test_adding_prints_the_address_and_a_code(state: Path) -> None:
    """Issue 5: registered with a one-time code from the command line."""
    result = typed("add", "--name", "phone")
    url, code = result.stdout.split()
    assert url == f"{BASE}/oauth/passkey/add"
    assert len(normal(code)) == 10
    assert "10 minutes" in result.stderr
    assert '"event":"passkey_code_made","name":"phone"' in audit(state)
    assert code not in audit(state)
    assert normal(code) not in audit(state)
    answer = said("add", "--name", "phone")
    assert isinstance(answer, dict)
    assert answer["seconds"] == 600


def test_the_list_shows_what_is_unusable_since_the_address_changed(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "auth passkey add" in typed("list").stderr
    made(state, "phone")
    assert "yes" in typed("list").stdout
    monkeypatch.setenv("STRONGROOM_PUBLIC_URL", "https://vault.example.net")
    assert "no: the address changed" in typed("list").stdout
    [row] = said("list")  # type: ignore[misc]
    assert (row["name"], row["rp_id"], row["usable"], row["last_used"]) == ("phone", "notes.example.org", False, None)


@pytest.mark.parametrize("base", ["", "http://nas.local:8484", "https://192.0.2.7"])
def test_without_https_and_a_name_it_says_that_passkeys_cannot_work(
    state: Path, monkeypatch: pytest.MonkeyPatch, base: str
) -> None:
    monkeypatch.setenv("STRONGROOM_PUBLIC_URL", base)
    result = typed("add", "--name", "phone")
    assert isinstance(result.exception, Misconfigured)
    assert "STRONGROOM_PUBLIC_URL" in str(result.exception)
    assert "STRONGROOM_PUBLIC_URL" in typed("list").stderr


def test_the_last_one_stays_while_the_passphrase_is_off_unless_it_is_forced(state: Path) -> None:
    """The owner must not shut himself out by accident."""
    made(state, "phone")
    made(state, "laptop")
    database = Database(state, (SCHEMA,))
    database.connection().execute("INSERT INTO sign_in VALUES ('passphrase_off', '1')")
    database.close()
    assert typed("remove", "phone").exit_code == 0
    refused = typed("remove", "laptop")
    assert isinstance(refused.exception, Conflict)
    assert "--force" in str(refused.exception)
    assert typed("remove", "laptop", "--force").exit_code == 0
    assert said("list") == []
    assert audit(state).count('"event":"passkey_removed"') == 2


def test_the_last_one_goes_while_the_passphrase_is_on(state: Path) -> None:
    made(state, "phone")
    result = typed("remove", "phone")
    assert result.exit_code == 0
    assert "tokens list" in result.stderr, "what the phone let in is another matter"
