"""Each client that people connect with, scripted: from the 401 to the tools, a refresh, a restart, and the way out.

The rows are those of auth.md 4.1 (`tests/support/connectors.py`); what such clients were seen to stumble over is in
auth.md 4.4, and its lines and their tests in `tests/connector_issues.tsv`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import connectors
from tests.support.connectors import CHATGPT, CLAUDE, CLAUDE_CODE, CLAUDE_REGISTERED, CODEX, COPILOT_CLI, CURSOR
from tests.support.internet import Internet
from tests.support.oauth_client import Connection, Tokens
from tests.support.sign_in import PUBLIC_URL, Place

HOUR_S = 3600


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("connectors")
    (folder / "vault").mkdir()
    (folder / "vault" / "a.md").write_text("from the vault\n")
    with Place.open(folder) as place:
        yield place


@pytest.fixture(scope="module")
def claude(place: Place) -> Connection:
    """One that is connected, for tests that only look."""
    return place.connected(CLAUDE)


# -- every client --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", connectors.ROWS)
def test_every_connector_connects_works_renews_and_leaves(place: Place, row: str) -> None:
    """auth.md 4.1; claude-ai-mcp#325 #430 #654 #810 #134 #136, claude-code#53290 #68377: after the tokens come real calls.

    python-sdk#3508: and a public client can give its tokens back.
    """
    client = place.connected(connectors.ROWS[row])
    assert client.tokens is not None
    assert {"vault:read", "vault:write"} == set(client.tokens.scope.split())
    assert {"read_note", "append_to_note"} <= {tool["name"] for tool in client.talk.ask("tools/list")["tools"]}
    assert "from the vault" in str(client.talk.call("read_note", path="a.md"))
    before = client.tokens
    client.renew()
    assert client.tokens.refresh != before.refresh
    assert "from the vault" in str(client.talk.call("read_note", path="a.md"))
    assert client.revoke(client.tokens.refresh).status_code == 200
    assert client.talk.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).status_code == 401
    assert (client.refresh().status_code, client.refresh().json()["error"]) == (400, "invalid_grant")


def test_a_client_on_the_owners_machine_gets_longer_tokens(place: Place, claude: Connection) -> None:
    """claude-code#55055 #76939 #82513 #65036 #21333: some never renew, and would have to sign in every hour."""
    assert claude.tokens is not None
    assert claude.tokens.lifetime_s == pytest.approx(HOUR_S, abs=5)
    for connector in (CLAUDE_CODE, connectors.ROWS["Claude Code in the desktop app"]):
        tokens = place.connected(connector).tokens
        assert tokens is not None
        assert tokens.lifetime_s == pytest.approx(8 * HOUR_S, abs=5)


def test_a_connector_that_registers_twice_and_comes_back_three_times_works_each_time(place: Place) -> None:
    """Complaint 49; claude-ai-mcp#132, #823, #899: register twice, sign in with the second, use, leave, again."""
    for _ in range(3):
        client = place.connection(CLAUDE_REGISTERED)
        client.discover()
        client.introduce()
        first = client.client_id
        client.introduce()
        assert client.client_id != first
        tokens = client.sign_in(place.owner())
        assert "tools" in client.talk.ask("tools/list")
        assert client.revoke(tokens.refresh).status_code == 200


def test_what_is_known_and_signed_in_outlives_a_restart(tmp_path: Path) -> None:
    """Complaint 50; claude-ai-mcp#724 #798, obsidian-web-mcp PR 41 and PR 73: clients and grants are in the state."""
    with Place.open(tmp_path) as before:
        asked = [before.connected(connector) for connector in (CLAUDE, CLAUDE_REGISTERED, CURSOR)]
        waiting = before.connection(CURSOR)
        waiting.discover()
        waiting.introduce()
        owner = before.owner()
        before.service.stop()
    with Place.open(tmp_path) as after:
        for client in asked:
            client.internet.port = after.internet.port
            assert "tools" in client.talk.ask("tools/list")
            client.renew()
            assert "tools" in client.talk.ask("tools/list")
        waiting.internet.port = after.internet.port
        owner.browser.cookies.clear()
        assert waiting.sign_in(owner).access


# -- finding us ----------------------------------------------------------------------------------------------------------


def test_the_challenge_leads_to_metadata_of_the_resource_itself(place: Place) -> None:
    """Complaint 47; claude-ai-mcp#345 #299: an absolute URL, open to anybody, that of the resource; which is byte-equal."""
    answer = place.internet.ask("POST", f"{PUBLIC_URL}/mcp", body=b"{}")
    assert answer.status_code == 401
    where = answer.headers["www-authenticate"].partition('resource_metadata="')[2].partition('"')[0]
    assert where == f"{PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"
    found = place.internet.ask("GET", where)
    assert (found.status_code, found.headers["content-type"]) == (200, "application/json")
    assert found.json()["resource"] == f"{PUBLIC_URL}/mcp"
    assert found.json()["authorization_servers"] == [PUBLIC_URL]
    assert "offline_access" not in found.json()["scopes_supported"]


@pytest.mark.parametrize(
    ("paths", "member"),
    [
        (("oauth-protected-resource", "oauth-protected-resource/mcp"), "resource"),
        (("oauth-authorization-server", "oauth-authorization-server/mcp", "openid-configuration"), "issuer"),
    ],
)
def test_each_place_where_clients_look_has_the_same_words(place: Place, paths: tuple[str, ...], member: str) -> None:
    """Complaint 48; typescript-sdk#1027, inspector#726, home-assistant/core#153820, gemini-cli#15754, devspace#42."""
    answers = [place.internet.ask("GET", f"{PUBLIC_URL}/.well-known/{path}") for path in paths]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].json()[member].startswith(PUBLIC_URL)


def test_a_client_that_guesses_the_endpoints_gets_in(place: Place) -> None:
    """claude-ai-mcp#846: /authorize, /token, /register and /revoke at the root are the same endpoints (2025-03-26)."""
    client = place.connected(connectors.ROWS["of 2025-03-26, which guesses"])
    assert client.server["token_endpoint"] == f"{PUBLIC_URL}/token"
    assert "tools" in client.talk.ask("tools/list")


def test_metadata_says_what_clients_choose_by(place: Place) -> None:
    """python-sdk#2260 #1842, claude-ai-mcp#42 #228 #247 #930, codex#41836: `none` alone, documents, iss, offline_access."""
    said = place.internet.ask("GET", f"{PUBLIC_URL}/.well-known/oauth-authorization-server").json()
    assert said["token_endpoint_auth_methods_supported"] == ["none"]
    assert said["revocation_endpoint_auth_methods_supported"] == ["none"]
    assert said["client_id_metadata_document_supported"] is True
    assert said["authorization_response_iss_parameter_supported"] is True
    assert "offline_access" in said["scopes_supported"]
    assert said["code_challenge_methods_supported"] == ["S256"]


def test_no_header_changes_a_word_of_the_metadata(place: Place) -> None:
    """Attack 72, claude-ai-mcp#560: our own address stands there, whatever a proxy or a stranger says."""
    spoofed = {
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "http",
        "Forwarded": "host=evil.example",
        "X-Original-URL": "/x",
    }
    for path in ("oauth-protected-resource/mcp", "oauth-authorization-server"):
        url = f"{PUBLIC_URL}/.well-known/{path}"
        assert place.internet.ask("GET", url, spoofed).content == place.internet.ask("GET", url).content
        assert place.internet.ask("GET", url, {"Host": "evil.example"}).status_code == 421


@pytest.mark.parametrize("path", ["/", "/mcp/", "//mcp", "/sse", "/api/mcp", "/mcp/sse", "/v1/mcp"])
def test_other_paths_are_nothing_and_lead_nowhere(place: Place, claude: Connection, path: str) -> None:
    """claude-ai-mcp#155 #878 #299, fastmcp#1466: one path; a redirect from another would cost the client its token."""
    assert claude.tokens is not None
    for headers in ({}, {"Authorization": f"Bearer {claude.tokens.access}"}):
        answer = place.internet.ask("POST", f"{PUBLIC_URL}{path}", headers, body=b"{}")
        assert (answer.status_code, answer.content) == (404, b"")
        assert "location" not in answer.headers


# -- registering ---------------------------------------------------------------------------------------------------------


def test_cursors_own_registration_is_taken(place: Place) -> None:
    """plane-mcp-server#159, agent-connector-for-wp#111, bytebase#20510, accounted PR 2225: three URIs, one of an own scheme."""
    body = {
        "client_name": "Cursor",
        "redirect_uris": [
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "https://www.cursor.com/agents/mcp/oauth/callback",
            "http://localhost:8787/callback",
        ],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    answer = place.internet.ask("POST", f"{PUBLIC_URL}/oauth/register", json=body)
    assert answer.status_code == 201
    assert answer.json()["redirect_uris"] == body["redirect_uris"]


def test_of_a_mixed_registration_what_is_allowed_is_kept(place: Place) -> None:
    """auth.md 7.2, attack 11: one URI that we do not know costs the client only that one."""
    wanted = [*CURSOR.redirect_uris, "https://www.cursor.com/new/callback", "cursor-nightly://x/callback"]
    client = place.connection(replace(CURSOR, redirect_uris=tuple(wanted)))
    client.discover()
    assert client.register().json()["redirect_uris"] == list(CURSOR.redirect_uris)
    client = place.connection(replace(CURSOR, redirect_uris=tuple(wanted[-2:])))
    client.discover()
    refused = client.register()
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_redirect_uri")


def test_a_registration_gives_no_secret_away(place: Place) -> None:
    """Complaint 46: jimprosser#29. What asks for one is a public client all the same."""
    asked = {"token_endpoint_auth_method": "client_secret_post", "client_secret": "mine"}
    client = place.connection(replace(CLAUDE_REGISTERED, registration=asked))
    client.discover()
    said = client.register().json()
    assert said["token_endpoint_auth_method"] == "none"
    assert "mine" not in json.dumps(said)
    assert "client_secret" not in said


# -- signing in ----------------------------------------------------------------------------------------------------------


def test_opening_the_page_gives_no_code(place: Place) -> None:
    """Complaint 46; attack 31, fastmcp PR 2056, cloudflare/ai#51: consent is asked every time, also for a known client."""
    client = place.connected(CLAUDE)
    for _ in range(2):
        page = place.owner().browser.open(client.authorize_url())
        assert (page.status, page.leads_to) == (200, None)
        assert "location" not in page.answer.headers


@pytest.mark.parametrize("resource", [f"{PUBLIC_URL}/mcp", f"{PUBLIC_URL}/mcp/", PUBLIC_URL, f"{PUBLIC_URL}/", None])
def test_our_resource_is_known_in_each_spelling_and_without_one(place: Place, resource: str | None) -> None:
    """Complaint 48; vscode#278512, codex#20729 #17265 #19154, gemini-cli#18760 #20017 #25508 #12628."""
    client = place.connection(CODEX)
    client.discover()
    client.introduce()
    code = client.code_from(place.owner().allow(client.authorize_url(resource=resource)))
    client.tokens = Tokens.of(client.exchange(code, resource=resource))
    assert "tools" in client.talk.ask("tools/list")
    client.tokens = Tokens.of(client.refresh(resource=resource))
    assert "tools" in client.talk.ask("tools/list")


@pytest.mark.parametrize("resource", ["https://other.example/mcp", "http://notes.example.org/mcp", f"{PUBLIC_URL}/x"])
def test_another_resource_is_refused_at_each_door(place: Place, resource: str) -> None:
    """Complaint 48, attack 15: other origins are refused, before anybody is asked and at the token endpoint."""
    client = place.connected(CODEX)
    page = place.owner().browser.open(client.authorize_url(resource=resource))
    assert page.leads_to is not None
    assert client.said_at(page.leads_to)["error"] == "invalid_target"
    assert client.refresh(resource=resource).json()["error"] == "invalid_target"


def test_the_port_on_the_owners_machine_may_change(place: Place) -> None:
    """copilot-cli#1951, fastmcp#3588 #3598, python-sdk PR 1934, gemini-cli#12628, RFC 8252 §7.3: a port is whichever is free."""
    client = place.connection(COPILOT_CLI)
    client.discover()
    client.introduce()
    for port in (40000, 40001, 61234):
        client.connector = replace(COPILOT_CLI, redirect_uri=f"http://127.0.0.1:{port}/")
        client.sign_in(place.owner())


@pytest.mark.parametrize("scope", ["", "vault:read offline_access", "offline_access", "vault:read"])
def test_a_refresh_token_comes_with_and_without_being_asked_for(place: Place, scope: str) -> None:
    """claude-ai-mcp#42 #228 #247 #930, supabase/auth#2628, supabase/mcp#355: offline_access is taken and means nothing."""
    client = place.connected(replace(CHATGPT, scope=scope))
    assert client.tokens is not None
    wanted = {"vault:read"} if "vault:read" in scope else {"vault:read", "vault:write"}
    assert set(client.tokens.scope.split()) == wanted
    assert client.renew().scope == client.tokens.scope


def test_the_issuer_is_named_when_it_works_and_when_it_does_not(place: Place) -> None:
    """codex#41836, attack 14: `said_at` wants iss and state once, and a client that is refused gets them as well."""
    client = place.connection(CODEX)
    client.discover()
    client.introduce()
    assert "code" in client.said_at(place.owner().allow(client.authorize_url()))
    assert client.said_at(place.owner().deny(client.authorize_url()))["error"] == "access_denied"
    wrong = {
        "response_type": "token",
        "code_challenge_method": "plain",
        "scope": "all",
        "resource": "https://x.example",
    }
    for name, value in wrong.items():
        page = place.owner().browser.open(client.authorize_url(**{name: value}))
        assert page.leads_to is not None
        assert "error" in client.said_at(page.leads_to)


def test_pages_send_on_in_ways_that_browsers_do_not_post_again(place: Place) -> None:
    """claude-ai-mcp#250: a 307 would send the passphrase to the client. `Internet` refuses 301, 307 and 308 everywhere.

    fastmcp#2302 #3369: and `PlainBrowser` refuses, as Chromium does, a redirect that the form's policy forbids.
    """
    client = place.connection(CLAUDE)
    client.discover()
    client.introduce()
    owner = place.owner()
    page = owner.browser.open(client.authorize_url())
    sent = owner.allowed(page)
    assert (page.status, sent.status) == (200, 200)
    assert "location" not in sent.answer.headers
    back = owner.browser.open(client.authorize_url(scope="all"))
    assert back.status in (302, 303)


def test_a_client_that_is_not_known_any_more_is_told_to_begin_anew(place: Place) -> None:
    """claude-ai-mcp#724 #798, claude-code#4760 #79505 #84614, obsidian-sync-mcp#13, attacks 7 and 43."""
    client = place.connection(CURSOR)
    client.discover()
    client.client_id = "forgotten"
    page = place.owner().browser.open(client.authorize_url())
    assert (page.status, page.leads_to) == (400, None)
    assert "add it again" in page.text
    answer = client.exchange("src_unknown")
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    answer = client.refresh("srr_unknown")
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


# -- using it ------------------------------------------------------------------------------------------------------------


def test_sessions_that_share_a_refresh_token_all_go_on(place: Place) -> None:
    """Complaint 51; claude-code#91641 #84440, fastmcp#4265 #4901, opencode#34074, opik PR 8286: one successor for all."""
    client = place.connected(CLAUDE_CODE)
    with ThreadPoolExecutor(6) as pool:
        tokens = [Tokens.of(answer) for answer in pool.map(lambda _: client.refresh(), range(6))]
    assert len({one.refresh for one in tokens}) == 1
    assert len({one.access for one in tokens}) == 6
    for one in tokens:
        client.tokens = one
        assert "tools" in client.talk.ask("tools/list")
    assert client.refresh(client.renew().refresh).status_code == 200


def test_many_clients_behind_one_address_are_not_slowed_down(place: Place) -> None:
    """claude-ai-mcp#709: hosted clients share their addresses, so 500 different ones in a row get no 429."""
    client = place.connection(CURSOR)
    client.discover()
    client.authorize_url()
    statuses = set()
    for number in range(500):
        client.client_id = f"client-{number}"
        statuses.add(client.exchange("src_unknown").status_code)
    assert statuses == {401}


def test_asking_for_a_stream_is_answered_at_once(place: Place, claude: Connection) -> None:
    """claude-code#5826, cloudflared#1449: a quick tunnel would hold a GET back for ever. 405, which the protocol allows."""
    assert claude.tokens is not None
    headers = {"Authorization": f"Bearer {claude.tokens.access}", "Accept": "text/event-stream"}
    answer = place.internet.ask("GET", f"{PUBLIC_URL}/mcp", headers)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert place.internet.ask("GET", f"{PUBLIC_URL}/mcp", {"Accept": "text/event-stream"}).status_code == 401


@pytest.mark.parametrize(
    "odd",
    [
        {"Accept": "text/html"},
        {"Accept": "application/json"},
        {"Accept": ""},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"MCP-Protocol-Version": "1999-01-01"},
    ],
)
def test_odd_headers_get_an_answer_that_says_what_is_wrong(claude: Connection, odd: dict[str, str]) -> None:
    """nowledge-co/community#496: a 422 without a word taught nobody. What can be answered is, the rest is a 4xx with a sentence."""
    answer = claude.talk.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, odd)
    assert answer.status_code in (200, 400, 406, 415)
    assert "tools" in answer.text if answer.status_code == 200 else len(answer.text) > 20


def test_a_session_of_before_is_no_hindrance(place: Place, claude: Connection) -> None:
    """Complaint 52: python-sdk#1676 #3556, fastmcp#3073: an old session id is ignored, and none is given out."""
    for _ in range(2):
        answer = claude.talk.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"Mcp-Session-Id": "stale"})
        assert answer.status_code == 200
        assert "mcp-session-id" not in answer.headers


def test_our_public_name_is_answered_and_another_is_not(place: Place, claude: Connection) -> None:
    """Complaint 53: python-sdk#1798, graphiti#1745, fastmcp#4468: 421 for a name that is not ours, behind any tunnel."""
    assert "tools" in claude.talk.ask("tools/list")
    answer = claude.talk.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"Host": "evil.example"})
    assert answer.status_code == 421
    local = Internet(f"http://127.0.0.1:{place.internet.port}", place.internet.port)
    assert local.ask("GET", f"{local.base}/healthz").status_code == 200


def test_guesses_are_slowed_down_whatever_a_caller_says_its_address_is(tmp_path: Path) -> None:
    """Complaint 54: GHSA-wm5v-9236-597m. Nobody believes X-Forwarded-For who was not told to; attack 28."""
    with Place.open(tmp_path) as place:
        client = place.connection(CLAUDE)
        client.discover()
        client.introduce()
        guesser = place.owner()
        guesser._passphrase = "not it, whatever it is"
        page, statuses = guesser.browser.open(client.authorize_url()), []
        for number in range(8):
            place.internet.more_headers = {
                "X-Forwarded-For": f"198.51.100.{number}",
                "CF-Connecting-IP": f"192.0.2.{number}",
            }
            statuses.append(guesser.allowed(page).status)
        assert statuses[:5] == [403] * 5
        assert set(statuses[5:]) == {429}


def test_without_sign_in_there_is_nothing_to_find(tmp_path: Path) -> None:
    """claude-ai-mcp#457: a server without OAuth whose well-known paths answer anything confuses clients."""
    with Place.open(tmp_path, OAUTH="0") as place:
        paths = ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server", "/oauth/authorize"]
        paths += ["/.well-known/openid-configuration", "/oauth/token", "/oauth/register", "/authorize", "/token"]
        for path in paths:
            answer = place.internet.ask("GET", f"{PUBLIC_URL}{path}")
            assert (answer.status_code, answer.content) == (404, b"")
        challenge = place.internet.ask("POST", f"{PUBLIC_URL}/mcp", body=b"{}")
        assert challenge.status_code == 401
        assert "resource_metadata" not in challenge.headers["www-authenticate"]
