"""`strongroom tokens`, typed by a person or a script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ops.commands import strongroom
from service.auth.grants import Grants
from service.auth.tables import SCHEMA
from service.auth.tokens import digest
from service.clock import SystemClock
from service.errors import GrantNotFound
from service.store.db import Database
from tests.support.rooms import settings_for


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings = settings_for(tmp_path)
    monkeypatch.setenv("STRONGROOM_VAULT", str(settings.vault))
    monkeypatch.setenv("STRONGROOM_STATE", str(settings.state))
    return settings.state


def typed(*words: str) -> Result:
    return CliRunner().invoke(strongroom, ["tokens", *words])


def test_a_token_is_made_listed_and_revoked(state: Path) -> None:
    """house.md: `--json` prints id and token; `tokens list`; `tokens revoke ID`."""
    made = json.loads(typed("create", "--name", "laptop", "--json").stdout)
    typed("create", "--name", "guest", "--read-only", "--days", "3")
    settings = settings_for(state.parent)
    grants = Grants(Database(state, [SCHEMA]), SystemClock(settings.zone))
    found = grants.find(digest(made["token"]))
    assert found is not None
    assert found.id == made["id"]
    listed = json.loads(typed("list", "--json").stdout)
    assert [(row["name"], row["scopes"], row["state"]) for row in listed] == [
        ("laptop", ["vault:read", "vault:write"], "alive"),
        ("guest", ["vault:read"], "alive"),
    ]
    assert "token" not in listed[0]
    assert typed("revoke", made["id"]).exit_code == 0
    assert grants.find(digest(made["token"])) is None
    assert [row["name"] for row in json.loads(typed("list", "--json").stdout)] == ["guest"]
    everything = json.loads(typed("list", "--all", "--json").stdout)
    assert [row["state"] for row in everything] == ["revoked", "alive"]
    assert [row["name"] for row in json.loads(typed("revoke", "--all", "--json").stdout)] == ["guest"]


def test_a_token_is_alone_on_stdout_so_that_a_script_can_take_it(state: Path) -> None:
    """output.py: facts go to stdout, sentences about them to stderr."""
    result = typed("create", "--name", "laptop")
    assert result.stdout.startswith("srs_")
    assert result.stdout.count("\n") == 1
    assert "only time" in result.stderr


@pytest.mark.parametrize("words", [["revoke"], ["revoke", "x", "--all"]])
def test_revoking_says_which_or_all_but_not_both(state: Path, words: list[str]) -> None:
    """Nothing is revoked by accident."""
    assert typed(*words).exit_code == 2


def test_revoking_what_is_not_there_says_how_to_list(state: Path) -> None:
    """style.md, Errors: a sentence with a way out."""
    result = typed("revoke", "nobody")
    assert isinstance(result.exception, GrantNotFound)
    assert "strongroom tokens list" in str(result.exception)
