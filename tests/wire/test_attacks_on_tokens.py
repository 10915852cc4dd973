"""What is sent to the token, registration and revocation endpoints by people who are up to no good, against the real process.

auth.md 8, attacks 34 to 62, 74 and 80. The rules with a clock that is held are in tests/unit/auth.
"""

from __future__ import annotations

import base64
import json
import secrets
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote_plus

import httpx2
import pytest

from tests.support.connectors import CHATGPT, CLAUDE, CODEX
from tests.support.oauth_client import Connection, Tokens
from tests.support.sign_in import PUBLIC_URL, Place

TOKEN = f"{PUBLIC_URL}/oauth/token"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with Place.open(tmp_path_factory.mktemp("tokens")) as place:
        yield place


@pytest.fixture
def client(place: Place) -> Connection:
    """One that is known and has nothing yet."""
    client = place.connection(CLAUDE)
    client.discover()
    client.introduce()
    return client


@pytest.fixture(scope="module")
def settled(place: Place) -> Connection:
    """One that is connected, for tests that take nothing from it."""
    return place.connected(CHATGPT)


def code_for(place: Place, client: Connection) -> str:
    return client.code_from(place.owner().allow(client.authorize_url()))


def works(client: Connection, tokens: Tokens) -> bool:
    client.tokens = tokens
    return client.talk.post(LIST).status_code == 200


def error_of(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


INVALID = (400, "invalid_grant")


# -- codes ---------------------------------------------------------------------------------------------------------------


def test_a_code_that_comes_again_with_its_verifier_ends_what_it_gave(place: Place, client: Connection) -> None:
    """Attack 34: somebody else has both; nobody keeps the grant."""
    code = code_for(place, client)
    tokens = Tokens.of(client.exchange(code))
    assert works(client, tokens)
    assert error_of(client.exchange(code)) == INVALID
    assert not works(client, tokens)
    assert error_of(client.refresh(tokens.refresh)) == INVALID


def test_a_code_that_comes_again_without_its_verifier_ends_nothing(place: Place, client: Connection) -> None:
    """Attack 35: who merely saw a code could end everybody's sign-ins otherwise."""
    code = code_for(place, client)
    tokens = Tokens.of(client.exchange(code))
    assert error_of(client.exchange(code, code_verifier=secrets.token_urlsafe(48))) == INVALID
    assert error_of(client.exchange(code, client_id=CHATGPT.document)) == INVALID
    assert works(client, tokens)


def test_of_eight_exchanges_at_once_one_succeeds_at_most(place: Place, client: Connection) -> None:
    """Attack 36."""
    code = code_for(place, client)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.exchange(code), range(8)))
    assert sum(answer.status_code == 200 for answer in answers) <= 1
    assert {error_of(answer) for answer in answers if answer.status_code != 200} == {INVALID}


def test_a_code_is_for_its_client_its_redirect_and_its_verifier(place: Place, client: Connection) -> None:
    """Attacks 38, 39 and 40: another client or redirect costs nothing, a wrong verifier costs the code."""
    code = code_for(place, client)
    assert error_of(client.exchange(code, client_id=CHATGPT.document)) == INVALID
    assert error_of(client.exchange(code, redirect_uri="https://claude.com/api/mcp/auth_callback")) == INVALID
    assert Tokens.of(client.exchange(code)).access
    for wrong in (secrets.token_urlsafe(48), "x" * 42, "x" * 129, "é" * 50):
        code = code_for(place, client)
        assert client.exchange(code, code_verifier=wrong).status_code == 400
    code = code_for(place, client)
    assert error_of(client.exchange(code, code_verifier=secrets.token_urlsafe(48))) == INVALID
    assert error_of(client.exchange(code)) == INVALID


def test_each_kind_of_token_opens_its_own_door_only(place: Place, client: Connection) -> None:
    """Attack 56, attack 66: access as refresh or code, refresh as access or code, code as either."""
    spare = code_for(place, client)
    tokens = client.sign_in(place.owner())
    assert error_of(client.refresh(tokens.access)) == INVALID
    assert error_of(client.refresh(spare)) == INVALID
    assert error_of(client.exchange(tokens.access)) == INVALID
    assert error_of(client.exchange(tokens.refresh)) == INVALID
    for wrong in (tokens.refresh, spare, tokens.access[:-1], tokens.access + "x", tokens.access.swapcase()):
        assert not works(client, Tokens(wrong, tokens.refresh, "", 0))
    assert works(client, tokens)


# -- refreshing ----------------------------------------------------------------------------------------------------------


def test_a_refresh_narrows_and_never_widens(place: Place) -> None:
    """Attack 47."""
    reader = place.connection(CODEX)
    reader.discover()
    reader.introduce()
    reader.tokens = Tokens.of(
        reader.exchange(reader.code_from(place.owner().allow(reader.authorize_url(scope="vault:read"))))
    )
    assert error_of(reader.refresh(scope="vault:read vault:write")) == (400, "invalid_scope")
    assert reader.renew().scope == "vault:read"
    writer = place.connected(CODEX)
    writer.tokens = Tokens.of(writer.refresh(scope="vault:read"))
    assert writer.tokens.scope == "vault:read"
    refused = writer.talk.call("append_to_note", path="a.md", text="x")
    assert refused["isError"] is True
    assert error_of(writer.refresh(scope="vault:read vault:write")) == (400, "invalid_scope")
    assert writer.renew().scope == "vault:read"


def test_a_refresh_token_is_its_clients_own(place: Place, client: Connection) -> None:
    """Attack 54: another client gets nothing, and takes nothing."""
    tokens = client.sign_in(place.owner())
    assert error_of(client.refresh(client_id=CHATGPT.document)) == INVALID
    assert works(client, tokens)
    assert client.renew().access != tokens.access


def test_a_thief_and_the_owner_of_a_refresh_token_cannot_both_go_on(place: Place, client: Connection) -> None:
    """Attacks 48, 49 and 53: inside the grace both get one successor; the second rotation of it finds the theft out."""
    first = client.sign_in(place.owner())
    mine, stolen = Tokens.of(client.refresh(first.refresh)), Tokens.of(client.refresh(first.refresh))
    assert mine.refresh == stolen.refresh
    after = Tokens.of(client.refresh(mine.refresh))
    assert works(client, after)
    again = client.refresh(first.refresh)
    assert error_of(again) == INVALID
    assert not works(client, after)
    assert error_of(client.refresh(after.refresh)) == INVALID


# -- bodies --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"grant_type":"refresh_token","refresh_token":"x","client_id":"y"}', "application/json"),
        (b"grant_type=refresh_token&refresh_token=x&client_id=y", "text/plain"),
        (b"grant_type=refresh_token&refresh_token=x&refresh_token=x&client_id=y", None),
        (b"grant_type=refresh_token&client_id=y&client_id=z&refresh_token=x", None),
        (b"grant_type=refresh_token&client_id=%ff%fe&refresh_token=x", None),
        (b"\xff\xfe\x00", None),
        (b"", None),
        (b"&" * 9000, None),
    ],
)
def test_a_body_that_can_be_read_in_two_ways_is_refused(place: Place, body: bytes, kind: str | None) -> None:
    """Attack 41, attack 45: an OAuth error that nobody may keep."""
    answer = place.internet.ask("POST", TOKEN, {"Content-Type": kind or "application/x-www-form-urlencoded"}, body=body)
    assert answer.status_code in (400, 401)
    assert answer.json()["error"] in ("invalid_request", "invalid_client")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/register", "/oauth/revoke", "/token", "/register"])
def test_a_large_body_is_413_and_is_not_waited_for(place: Place, path: str) -> None:
    """Attacks 41 and 62: 3 MB of client_name and 1 MB of form are both more than 16 KiB."""
    big = json.dumps({"client_name": "x" * 3_000_000}).encode()
    answer = place.internet.ask("POST", f"{PUBLIC_URL}{path}", {"Content-Type": "application/json"}, body=big)
    assert answer.status_code == 413


def test_a_slow_body_is_cut_off_in_time(place: Place) -> None:
    """Attack 41: the head is whole, the rest never comes; after ten seconds it is over, and others were served meanwhile."""
    head = f"POST /oauth/token HTTP/1.1\r\nHost: notes.example.org\r\nContent-Length: 100\r\n\r\n{'a' * 10}"
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", place.internet.port), timeout=20) as connection:
        connection.sendall(head.encode())
        assert place.internet.ask("GET", f"{PUBLIC_URL}/.well-known/openid-configuration").status_code == 200
        answer = connection.recv(65536)
    assert time.monotonic() - began < 15
    assert answer.startswith(b"HTTP/1.1 408")


def test_basic_with_an_empty_secret_names_a_public_client(place: Place, client: Connection) -> None:
    """Attack 42: taken; with a secret that we never gave it is a clean 401 that says so (RFC 6749 §5.2)."""
    client.sign_in(place.owner())
    assert client.tokens is not None
    form = {"grant_type": "refresh_token", "refresh_token": client.tokens.refresh}
    for password, status in (("guess", 401), ("", 200)):
        credentials = base64.b64encode(f"{quote_plus(client.client_id or '')}:{password}".encode()).decode()
        answer = place.internet.ask("POST", TOKEN, {"Authorization": f"Basic {credentials}"}, form=form)
        assert answer.status_code == status, answer.text
        if status == 401:
            assert answer.json()["error"] == "invalid_client"
            assert answer.headers["www-authenticate"].startswith("Basic")


@pytest.mark.parametrize(
    "kind",
    [
        "password",
        "client_credentials",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "urn:ietf:params:oauth:grant-type:device_code",
        "urn:ietf:params:oauth:grant-type:token-exchange",
        "AUTHORIZATION_CODE",
    ],
)
def test_no_other_grant_is_known(place: Place, settled: Connection, kind: str) -> None:
    """Attack 44: as a client that is known, with everything that such a grant might want."""
    form = {
        "grant_type": kind,
        "client_id": settled.client_id or "",
        "username": "o",
        "password": "p",
        "assertion": "a",
    }
    assert error_of(place.internet.ask("POST", TOKEN, form=form)) == (400, "unsupported_grant_type")


def test_no_answer_of_the_machines_doors_may_be_kept(place: Place, client: Connection) -> None:
    """Attack 45: good answers and bad ones, of token and register."""
    client.sign_in(place.owner())
    answers = [
        client.refresh(),
        client.refresh("srr_unknown"),
        client.exchange("src_unknown"),
        client.refresh(client_id="unknown"),
        client.register(),
        place.internet.ask("POST", f"{PUBLIC_URL}/oauth/register", body=b"{"),
        place.internet.ask("POST", f"{PUBLIC_URL}/oauth/register", json={"redirect_uris": ["https://evil.example"]}),
        place.internet.ask("GET", TOKEN),
    ]
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}
    assert {answer.status_code for answer in answers} == {200, 201, 400, 401, 405}


def test_no_page_may_read_an_answer_with_credentials(place: Place, settled: Connection) -> None:
    """Attack 46: where every page may read, none may send cookies; /mcp and the owner's pages are for no page at all."""
    origin = {"Origin": "http://localhost:6274"}
    for path in (
        "/oauth/token",
        "/oauth/register",
        "/.well-known/oauth-authorization-server",
        "/oauth/authorize",
        "/mcp",
    ):
        for method in ("OPTIONS", "GET", "POST"):
            answer = place.internet.ask(
                method, f"{PUBLIC_URL}{path}", {**origin, "Access-Control-Request-Method": "POST"}
            )
            assert "access-control-allow-credentials" not in answer.headers
    page = place.internet.ask("GET", settled.authorize_url(), origin)
    assert "access-control-allow-origin" not in page.headers


# -- giving back ---------------------------------------------------------------------------------------------------------


def test_giving_back_takes_the_token_or_the_grant_and_nothing_of_others(place: Place, client: Connection) -> None:
    """Attack 80, RFC 7009: an access token goes alone, a refresh token takes the grant along; all else is 200 and nothing."""
    tokens = client.sign_in(place.owner())
    other = place.connected(CHATGPT)
    assert other.tokens is not None
    for nothing in ("", "nonsense", "sra_" + "x" * 43, other.tokens.refresh, other.tokens.access):
        assert client.revoke(nothing).status_code in (200, 400)
    assert client.revoke(other.tokens.refresh).status_code == 200
    assert works(other, other.tokens)
    assert client.revoke(tokens.access, token_type_hint="nonsense").status_code == 200
    assert not works(client, tokens)
    renewed = Tokens.of(client.refresh(tokens.refresh))
    assert works(client, renewed)
    assert client.revoke(renewed.refresh, token_type_hint="access_token").status_code == 200
    assert not works(client, renewed)
    assert error_of(client.refresh(renewed.refresh)) == INVALID


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT"])
def test_other_methods_of_mcp_are_401_first_and_then_405(place: Place, settled: Connection, method: str) -> None:
    """Attack 74: what there is is told to nobody without a token."""
    assert settled.tokens is not None
    assert place.internet.ask(method, f"{PUBLIC_URL}/mcp").status_code == 401
    with_token = {"Authorization": f"Bearer {settled.tokens.access}"}
    assert place.internet.ask(method, f"{PUBLIC_URL}/mcp", with_token).status_code == 405
