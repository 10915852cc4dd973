"""`strongroom auth clients`: who may ask to be let in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ops import document
from ops.commands import strongroom
from service.auth import tokens
from service.errors import GrantNotFound, Refused
from tests.support.rooms import settings_for

URL = "https://app.example/oauth/client.json"
DOCUMENT = {"client_id": URL, "client_name": "App\u202e \x07", "redirect_uris": ["https://app.example/cb"]}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The state of a fresh house, and the URLs that were fetched."""
    settings = settings_for(tmp_path)
    monkeypatch.setenv("STRONGROOM_VAULT", str(settings.vault))
    monkeypatch.setenv("STRONGROOM_STATE", str(settings.state))
    fetched: list[str] = []

    def fetch(url: str) -> Mapping[str, object]:
        fetched.append(url)
        if url != URL:
            raise Refused("it is none.")
        return DOCUMENT

    monkeypatch.setattr(document, "fetch", fetch)
    return fetched


def typed(*words: str) -> Result:
    return CliRunner().invoke(strongroom, ["auth", "clients", *words])


def listed() -> dict[str, dict[str, object]]:
    return {row["id"]: row for row in json.loads(typed("list", "--json").stdout)}


def test_the_known_clients_are_listed_without_being_asked_for(asked: list[str]) -> None:
    """auth.md 7.2: the pinned catalogue."""
    rows = listed()
    claude = rows["https://claude.ai/oauth/mcp-oauth-client-metadata"]
    assert (claude["name"], claude["domain"], claude["verified"], claude["created"]) == (
        "Claude",
        "claude.ai",
        True,
        None,
    )
    shown = typed()
    assert "claude.ai" in shown.stdout
    assert asked == []


def test_a_client_is_added_by_its_url_at_the_owners_word(asked: list[str]) -> None:
    """auth.md 7.2, attack 59: fetched here, then pinned; its name is cleaned (attack 27)."""
    refused = typed("add", URL)
    assert refused.exit_code == 2, "nobody is there to say yes"
    assert asked == []
    done = typed("add", URL, "--yes")
    assert done.exit_code == 0, done.output
    assert "https://app.example/cb" in done.stderr
    assert (listed()[URL]["name"], listed()[URL]["domain"]) == ("App", "app.example")
    assert asked == [URL]


def test_a_document_that_is_refused_adds_nothing(asked: list[str]) -> None:
    """attack 59."""
    assert isinstance(typed("add", URL + "2", "--yes").exception, Refused)
    assert URL + "2" not in listed()


def test_a_client_that_is_removed_stays_off_until_it_is_added_again(asked: list[str]) -> None:
    """auth.md 7.7: also a known one, which has no row before."""
    known = "https://claude.ai/oauth/mcp-oauth-client-metadata"
    assert typed("remove", known).exit_code == 0
    assert listed()[known]["disabled"] is True
    assert "switched off" in typed().stdout
    assert typed("add", known, "--yes").exit_code == 0
    assert listed()[known]["disabled"] is False
    assert asked == [], "it was known; nothing had to be fetched"


def test_removing_what_is_not_there_names_what_comes_near(asked: list[str]) -> None:
    """style.md, Errors."""
    missing = typed("remove", "vscode.de").exception
    assert isinstance(missing, GrantNotFound)
    assert "'vscode.dev'" in str(missing)
    assert asked == []


def test_a_name_in_the_list_holds_nothing_that_drives_a_terminal(asked: list[str]) -> None:
    """attack 27."""
    typed("add", URL, "--yes")
    assert not {"\u202e", "\x07", "\x1b"} & set(typed().output)
    assert asked == [URL]
    assert tokens.STATIC not in typed().output
