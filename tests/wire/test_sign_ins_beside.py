"""The commands beside a running service, with clients that really signed in: what is listed, approved and taken back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest

from ops import exits
from tests.support.internet import Internet
from tests.support.oauth_client import Connection, Connector, Owner, Tokens
from tests.support.service import Service

LOCAL = Connector("Local tool", "http://127.0.0.1:3334/oauth/callback")
HOSTED = Connector("Claude", "https://claude.ai/api/mcp/auth_callback")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service.start(tmp_path_factory.mktemp("sign-ins")) as running:
        yield running


@pytest.fixture(scope="module")
def passphrase(service: Service) -> str:
    return service.cli("auth", "passphrase", "--show-initial").stdout.strip()


def begun(service: Service, connector: Connector) -> Connection:
    """A client that has introduced itself."""
    connection = Connection(connector, Internet(service.url, service.port))
    connection.discover()
    connection.introduce()
    return connection


def listed(service: Service) -> dict[str, dict[str, object]]:
    return {row["id"]: row for row in service.cli_json("tokens", "list", "--all")}


def test_the_first_passphrase_lets_a_client_in_and_the_list_shows_it(service: Service, passphrase: str) -> None:
    """Issue 5: one list, with client and whether verified, scopes, last used and address."""
    before = listed(service)
    connection = begun(service, LOCAL)
    connection.sign_in(Owner(connection.internet, passphrase))
    connection.talk.ask("tools/list")
    (row,) = (row for grant_id, row in listed(service).items() if grant_id not in before)
    assert (row["kind"], row["state"], row["client"]) == ("oauth", "alive", connection.client_id)
    assert (row["client_name"], row["verified"], row["domain"]) == ("Local tool", False, None)
    assert row["scopes"] == ["vault:read", "vault:write"]
    assert service.cli("tokens", "revoke", str(row["id"])).returncode == 0
    refused = connection.refresh()
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


def test_a_code_from_the_page_lets_the_client_in_from_the_machine(service: Service) -> None:
    """attack 29: the second door, with the page that waits; read-only and a folder as the owner says."""
    before = listed(service)
    connection = begun(service, HOSTED)
    browser = Owner(connection.internet, "unknown").browser
    page = browser.open(connection.authorize_url())
    (code,) = set(re.findall(r"auth approve ([0-9A-Z]{4}-[0-9A-Z]{4})", page.text))
    waiting = f"{service.url}/oauth/wait?approval={code}"
    assert browser.open(waiting).leads_to is None
    done = service.cli("auth", "approve", code, "--yes", "--read-only", "--folder", "Projects")
    assert done.returncode == 0, done.stderr
    assert "the web site claude.ai" in done.stderr
    leads_to = browser.open(waiting).leads_to
    assert leads_to is not None
    answer = connection.exchange(connection.code_from(leads_to))
    assert answer.json()["scope"] == "vault:read"
    (row,) = (row for grant_id, row in listed(service).items() if grant_id not in before)
    assert (row["scopes"], row["folders"]) == (["vault:read"], ["Projects"])
    assert service.cli("auth", "approve", code, "--yes").returncode == exits.CONFLICT


def test_a_client_that_is_revoked_has_to_introduce_itself_anew(service: Service, passphrase: str) -> None:
    """auth.md 7.7: 401 invalid_client, so that it does; attack 78: what waits of it is over."""
    connection = begun(service, LOCAL)
    tokens = connection.sign_in(Owner(connection.internet, passphrase))
    other_tab = Owner(connection.internet, passphrase)
    page = other_tab.browser.open(connection.authorize_url())
    done = service.cli("tokens", "revoke", "--client", str(connection.client_id), "--json")
    assert [row["client"] for row in json.loads(done.stdout)] == [connection.client_id]
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert service.post(tokens.access, message).status == 401
    refused = connection.refresh()
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    assert other_tab.allowed(page).leads_to is None


def test_a_new_passphrase_counts_at_once_and_the_old_one_does_not(service: Service, passphrase: str) -> None:
    """decisions.md 22; auth.md 7.7: pendings are killed, grants stay."""
    connection = begun(service, HOSTED)
    connection.sign_in(Owner(connection.internet, passphrase))
    open_page = Owner(connection.internet, passphrase)
    page = open_page.browser.open(connection.authorize_url())
    new = service.cli("auth", "passphrase", "--generate", "--keep").stdout.strip()
    assert open_page.allowed(page).leads_to is None
    guesser = Owner(connection.internet, passphrase)
    assert guesser.allowed(guesser.browser.open(connection.authorize_url())).leads_to is None
    assert connection.refresh().status_code == 200
    again = begun(service, HOSTED)
    again.sign_in(Owner(again.internet, new))


def test_what_happened_stands_in_the_audit_log_without_any_secret(service: Service, passphrase: str) -> None:
    """auth.md 7.9, attack 84: events of the doors and of the commands, in one list."""
    connection = begun(service, LOCAL)
    new = service.cli("auth", "passphrase", "--generate", "--keep").stdout.strip()
    tokens = connection.sign_in(Owner(connection.internet, new))
    told = service.cli("auth", "log", "--json").stdout
    events = {json.loads(line)["event"] for line in told.splitlines()}
    assert {"register", "authorize_view", "login_ok", "grant", "approve_cli", "revoke", "passphrase_changed"} <= events
    assert not any(secret in told for secret in (passphrase, new, tokens.access, tokens.refresh))


def test_the_services_own_log_holds_nothing_that_opens_anything(service: Service) -> None:
    """attack 88: no code, state, verifier or token, whether the sign-in works or not; no address line with a query."""
    connection = begun(service, LOCAL)
    new = service.cli("auth", "passphrase", "--generate", "--keep").stdout.strip()
    owner = Owner(connection.internet, new)
    url = connection.authorize_url()
    location = owner.allow(url)
    tokens = Tokens.of(connection.exchange(connection.code_from(location)))
    connection.exchange("src_" + "x" * 43)
    secrets = [new, tokens.access, tokens.refresh, *dict(parse_qsl(urlsplit(location).query)).values()]
    asked = dict(parse_qsl(urlsplit(url).query))
    secrets += [asked["state"], asked["code_challenge"]]
    issuer = {service.url}
    said = service.log + service.errors
    assert [secret for secret in secrets if secret in said and secret not in issuer] == []
    assert "src_x" not in said
