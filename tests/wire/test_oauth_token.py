"""What programs call over HTTP: register, token, revoke. The owner's yes is given from another process."""

from __future__ import annotations

import base64
import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.far_owner import FarOwner
from tests.support.service import Answer, Service, wait_until
from tests.support.signing_in import HERE, VERIFIER

FORM = ("Content-Type", "application/x-www-form-urlencoded")
JSON = ("Content-Type", "application/json")
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
DOORS = ["/oauth/token", "/oauth/register", "/oauth/revoke", "/token", "/register", "/revoke"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service.start(tmp_path_factory.mktemp("token")) as started:
        yield started


@pytest.fixture(scope="module")
def graceless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that forgives no second use of a refresh token; the last test breaks it."""
    with Service.start(tmp_path_factory.mktemp("graceless"), REFRESH_GRACE="0") as started:
        yield started


@pytest.fixture(scope="module")
def owner(service: Service) -> FarOwner:
    return FarOwner(service, service.url)


@pytest.fixture(scope="module")
def client_id(service: Service) -> str:
    return registered(service)


def registered(service: Service, **members: object) -> str:
    answer = register(service, {"redirect_uris": [HERE], "client_name": "App", **members})
    assert answer.status == 201
    return str(json.loads(answer.body)["client_id"])


def register(service: Service, members: object, path: str = "/oauth/register") -> Answer:
    return service.ask(path, [JSON], method="POST", body=json.dumps(members).encode())


def send(service: Service, fields: Mapping[str, str], *headers: tuple[str, str], path: str = "/oauth/token") -> Answer:
    return service.ask(path, [FORM, *headers], method="POST", body=urlencode(fields).encode())


def exchange(client_id: str, code: str, /, **changed: str | None) -> dict[str, str]:
    """The fields of a good exchange, with changes; None leaves one out."""
    usual: dict[str, str | None] = {
        "grant_type": "authorization_code",
        "client_id": client_id,
        "code": code,
        "code_verifier": VERIFIER,
        "redirect_uri": HERE,
        **changed,
    }
    return {name: value for name, value in usual.items() if value is not None}


def renewal(client_id: str, token: str, **more: str) -> dict[str, str]:
    return {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": token, **more}


def signed_in(service: Service, owner: FarOwner, client_id: str) -> dict[str, Any]:
    answer = send(service, exchange(client_id, owner.code(client_id, HERE)))
    assert answer.status == 200
    found: dict[str, Any] = json.loads(answer.body)
    return found


def works(service: Service, token: str) -> bool:
    return service.post(token, LIST).status == 200


def error(answer: Answer) -> tuple[int, str]:
    return answer.status, json.loads(answer.body)["error"]


# -- a good day ----------------------------------------------------------------------------------------------------------


def test_a_code_becomes_tokens_that_work(service: Service, owner: FarOwner, client_id: str) -> None:
    """auth.md 4.4 claude-ai-mcp#325: everything a client needs is in the answer, and what it got is good at once."""
    answer = send(service, exchange(client_id, owner.code(client_id, HERE)))
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")
    said = json.loads(answer.body)
    assert said["token_type"] == "Bearer"
    assert said["expires_in"] == 8 * 3600
    assert said["scope"] == "vault:read vault:write"
    assert said["access_token"].startswith("sra_")
    assert said["refresh_token"].startswith("srr_")
    assert works(service, said["access_token"])
    again = json.loads(send(service, renewal(client_id, said["refresh_token"])).body)
    assert works(service, again["access_token"])


def test_only_the_access_token_opens_the_protocol(service: Service, owner: FarOwner, client_id: str) -> None:
    """Attack 56, attack 63, attack 66: a refresh token, a code, a token elsewhere than in the header."""
    said = signed_in(service, owner, client_id)
    code = owner.code(client_id, HERE)
    for other in (said["refresh_token"], code, said["access_token"][:-1], "sra_" + said["refresh_token"][4:]):
        assert not works(service, other)
    assert service.ask(f"/mcp?access_token={said['access_token']}", [JSON], method="POST", body=b"{}").status == 401


def test_the_doors_answer_at_the_root_too(service: Service, owner: FarOwner) -> None:
    """auth.md 4.4 claude-ai-mcp#846."""
    client_id = json.loads(register(service, {"redirect_uris": [HERE]}, "/register").body)["client_id"]
    said = json.loads(send(service, exchange(client_id, owner.code(client_id, HERE)), path="/token").body)
    assert send(service, {"client_id": client_id, "token": said["access_token"]}, path="/revoke").status == 200
    assert not works(service, said["access_token"])


@pytest.mark.parametrize("resource", ["{}/mcp", "{}/mcp/", "{}", "{}/"])
def test_our_resource_may_be_named_in_four_ways(
    service: Service, owner: FarOwner, client_id: str, resource: str
) -> None:
    """Attack 15; complaint 48: with and without a slash, repeated, at the token endpoint too."""
    named = resource.format(service.url)
    body = urlencode(
        [*exchange(client_id, owner.code(client_id, HERE)).items(), ("resource", named), ("resource", named)]
    )
    answer = service.ask("/oauth/token", [FORM], method="POST", body=body.encode())
    assert answer.status == 200
    refresh = json.loads(answer.body)["refresh_token"]
    assert send(service, renewal(client_id, refresh, resource=named)).status == 200


def test_a_foreign_resource_is_refused_and_burns_nothing(service: Service, owner: FarOwner, client_id: str) -> None:
    """Attack 15; auth.md 1.5 number 9."""
    code = owner.code(client_id, HERE)
    foreign = {"resource": "https://other.example/mcp"}
    assert error(send(service, {**exchange(client_id, code), **foreign})) == (400, "invalid_target")
    said = json.loads(send(service, exchange(client_id, code)).body)
    refused = send(service, {**renewal(client_id, said["refresh_token"]), **foreign})
    assert error(refused) == (400, "invalid_target")
    assert send(service, renewal(client_id, said["refresh_token"])).status == 200


# -- codes ---------------------------------------------------------------------------------------------------------------


def test_a_code_replayed_ends_what_it_gave(service: Service, owner: FarOwner, client_id: str) -> None:
    """Attack 34."""
    code = owner.code(client_id, HERE)
    said = json.loads(send(service, exchange(client_id, code)).body)
    assert works(service, said["access_token"])
    assert error(send(service, exchange(client_id, code))) == (400, "invalid_grant")
    assert not works(service, said["access_token"])


def test_a_code_replayed_by_whoever_saw_it_ends_nothing(service: Service, owner: FarOwner, client_id: str) -> None:
    """Attack 35."""
    code = owner.code(client_id, HERE)
    said = json.loads(send(service, exchange(client_id, code)).body)
    assert error(send(service, exchange(client_id, code, code_verifier="w" * 43))) == (400, "invalid_grant")
    assert works(service, said["access_token"])


def test_of_eight_exchanges_at_once_one_succeeds(service: Service, owner: FarOwner, client_id: str) -> None:
    """Attack 36: over eight connections."""
    code = owner.code(client_id, HERE)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: send(service, exchange(client_id, code)), range(8)))
    assert sorted(answer.status for answer in answers)[:2] == [200, 400]
    assert all(error(answer) == (400, "invalid_grant") for answer in answers if answer.status != 200)


def test_another_client_or_redirect_gets_nothing_and_burns_nothing(
    service: Service, owner: FarOwner, client_id: str
) -> None:
    """Attack 38, attack 39: invalid_grant, not invalid_request (auth.md 1.5 number 10)."""
    code = owner.code(client_id, HERE)
    other = registered(service)
    assert error(send(service, exchange(other, code))) == (400, "invalid_grant")
    assert error(send(service, exchange(client_id, code, redirect_uri=f"{HERE}/"))) == (400, "invalid_grant")
    assert send(service, exchange(client_id, code, redirect_uri=None)).status == 200


@pytest.mark.parametrize("verifier", ["w" * 43, "v" * 42, "v" * 129])
def test_a_wrong_verifier_burns_the_code(service: Service, owner: FarOwner, client_id: str, verifier: str) -> None:
    """Attack 40."""
    code = owner.code(client_id, HERE)
    assert error(send(service, exchange(client_id, code, code_verifier=verifier))) == (400, "invalid_grant")
    assert error(send(service, exchange(client_id, code))) == (400, "invalid_grant")


# -- refresh -------------------------------------------------------------------------------------------------------------


def test_six_renewals_at_once_give_one_successor(service: Service, owner: FarOwner, client_id: str) -> None:
    """Attack 48; auth.md 4.4 claude-code#91641; complaint 51."""
    first = signed_in(service, owner, client_id)["refresh_token"]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: send(service, renewal(client_id, first)), range(6)))
    assert [answer.status for answer in answers] == [200] * 6
    found = [json.loads(answer.body) for answer in answers]
    assert len({one["refresh_token"] for one in found}) == 1
    assert all(works(service, one["access_token"]) for one in found)


def test_the_first_use_is_noted_by_the_protocols_door(graceless: Service) -> None:
    """Attack 50, attack 52: a call with the successor's token tells a lost answer from a theft."""
    owner, client_id = FarOwner(graceless, graceless.url), registered(graceless)
    first = signed_in(graceless, owner, client_id)["refresh_token"]
    lost = json.loads(send(graceless, renewal(client_id, first)).body)
    found = json.loads(send(graceless, renewal(client_id, first)).body)
    assert found["refresh_token"] != lost["refresh_token"]
    assert works(graceless, found["access_token"])
    noted = "SELECT count(*) FROM token WHERE used_at IS NOT NULL AND kind = 'a'"
    with closing(sqlite3.connect(graceless.state / "strongroom.db")) as reader:
        wait_until(lambda: reader.execute(noted).fetchone()[0] > 0, 5, "note the first use")
    assert error(send(graceless, renewal(client_id, first))) == (400, "invalid_grant")
    assert not works(graceless, found["access_token"])


def test_scopes_are_never_widened(service: Service, owner: FarOwner, client_id: str) -> None:
    """Attack 47."""
    said = signed_in(service, owner, client_id)
    narrow = json.loads(send(service, renewal(client_id, said["refresh_token"], scope="vault:read")).body)
    assert narrow["scope"] == "vault:read"
    wider = send(service, renewal(client_id, narrow["refresh_token"], scope="vault:read vault:write"))
    assert error(wider) == (400, "invalid_scope")


def test_tokens_and_clients_outlive_a_restart(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Attack 83; auth.md 4.4 claude-ai-mcp#724; complaint 50."""
    folder = tmp_path_factory.mktemp("restart")
    with Service.start(folder, PUBLIC_URL="https://notes.example.org") as before:
        client_id = registered(before)
        said = signed_in(before, FarOwner(before, "https://notes.example.org"), client_id)
        before.process.kill()
        before.process.wait(10)
    with Service.start(folder, PUBLIC_URL="https://notes.example.org") as after:
        assert works(after, said["access_token"])
        assert send(after, renewal(client_id, said["refresh_token"])).status == 200
    with Service.start(folder, PUBLIC_URL="https://moved.example.org") as moved:
        assert not works(moved, said["access_token"])


# -- what is malformed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", ["nobody", "https://evil.example/client.json", "dcr-0", "é"])
def test_an_unknown_client_is_told_to_register_again(service: Service, client: str) -> None:
    """Attack 43, attack 58; auth.md 4.4 claude-ai-mcp#724: 401 invalid_client, with a challenge (RFC 6749 §5.2)."""
    for fields in (exchange(client, "src_x"), renewal(client, "srr_x")):
        answer = send(service, fields)
        assert error(answer) == (401, "invalid_client")
        assert answer.headers["www-authenticate"].startswith("basic ")


@pytest.mark.parametrize(
    "grant_type",
    [
        "password",
        "client_credentials",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "urn:ietf:params:oauth:grant-type:device_code",
        "urn:ietf:params:oauth:grant-type:token-exchange",
        "implicit",
        "AUTHORIZATION_CODE",
    ],
)
def test_other_grants_are_not_supported(service: Service, client_id: str, grant_type: str) -> None:
    """Attack 44."""
    answer = send(service, {"grant_type": grant_type, "client_id": client_id, "username": "x", "password": "y"})
    assert error(answer) == (400, "unsupported_grant_type")


@pytest.mark.parametrize("missing", ["grant_type", "code", "code_verifier"])
def test_a_missing_field_is_named(service: Service, owner: FarOwner, client_id: str, missing: str) -> None:
    """RFC 6749 §5.2; nothing is burnt by it."""
    code = owner.code(client_id, HERE)
    assert error(send(service, exchange(client_id, code, **{missing: None}))) == (400, "invalid_request")
    assert error(send(service, exchange(client_id, code, **{missing: ""}))) == (400, "invalid_request")
    assert send(service, exchange(client_id, code)).status == 200


@pytest.mark.parametrize("name", ["client_id", "code", "code_verifier", "grant_type", "redirect_uri", "x"])
def test_a_repeated_field_is_refused(service: Service, owner: FarOwner, client_id: str, name: str) -> None:
    """Attack 41."""
    fields = {**exchange(client_id, owner.code(client_id, HERE)), "x": "1"}
    body = urlencode([*fields.items(), (name, fields[name])]).encode()
    answer = service.ask("/oauth/token", [FORM], method="POST", body=body)
    assert error(answer) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b'{"grant_type":"authorization_code"}'),
        ("text/plain", b"grant_type=authorization_code"),
        ("multipart/form-data; boundary=x", b"--x--"),
        ("application/x-www-form-urlencoded", b"grant_type=%ff"),
        ("application/x-www-form-urlencoded", b"grant_type=\xff"),
        ("application/x-www-form-urlencoded", b"&".join(b"x%d=1" % number for number in range(200))),
        ("application/x-www-form-urlencoded", b""),
    ],
)
@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
def test_a_body_that_is_no_form_is_refused(service: Service, kind: str, body: bytes, path: str) -> None:
    """Attack 41; nothing in the query counts."""
    answer = service.ask(
        f"{path}?grant_type=authorization_code&client_id=x&token=x", [("Content-Type", kind)], method="POST", body=body
    )
    assert answer.status in (400, 401)
    assert json.loads(answer.body)["error"] in ("invalid_request", "invalid_client")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", DOORS)
def test_a_huge_body_is_413_and_the_client_sees_it(service: Service, path: str) -> None:
    """Attack 41, attack 62: a megabyte to the token endpoint, a name of three to registration."""
    for size in (16 * 1024 + 1, 1_000_000, 3_000_000):
        answer = service.ask(path, [FORM], method="POST", body=b"x" * size)
        assert answer.status == 413
        assert answer.headers["cache-control"] == "no-store"
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{service.port}\r\nTransfer-Encoding: chunked\r\n"
    chunks = b"5000\r\n" + b"x" * 0x5000 + b"\r\n0\r\n\r\n"
    assert service.send_raw(f"{head}Connection: close\r\n\r\n".encode() + chunks).status == 413


def test_a_body_that_trickles_is_given_up(service: Service) -> None:
    """Attack 41, attack 93: 408 in ten seconds; all doors at once, so that it takes no longer."""

    def trickle(path: str) -> Answer:
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{service.port}\r\nContent-Length: 100\r\n"
        return service.send_raw(f"{head}Connection: close\r\n\r\nx".encode(), timeout_s=20)

    began = time.monotonic()
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(trickle, DOORS[:3]))
    assert [answer.status for answer in answers] == [408] * 3
    assert time.monotonic() - began < 15
    assert all(answer.headers["cache-control"] == "no-store" for answer in answers)


@pytest.mark.parametrize("path", DOORS)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD"])
def test_the_doors_take_post_only_and_never_redirect(service: Service, path: str, method: str) -> None:
    """auth.md 7.1, 4.4 claude-ai-mcp#250."""
    answer = service.ask(path, method=method)
    assert answer.status == 405
    assert answer.headers["allow"] == "post, options"
    assert service.ask(f"{path}/", method="POST", body=b"").status == 404


@pytest.mark.parametrize(
    ("name", "password", "status"), [("{}", "", 200), ("{}", "secret", 401), ("nobody", "", 401), ("", "", 401)]
)
def test_basic_with_an_empty_password_names_a_client(
    service: Service, owner: FarOwner, client_id: str, name: str, password: str, status: int
) -> None:
    """Attack 42; RFC 6749 §2.3.1."""
    fields = exchange(client_id, owner.code(client_id, HERE), client_id=None)
    pair = f"{name.format(client_id)}:{password}".encode()
    answer = send(service, fields, ("Authorization", f"Basic {base64.b64encode(pair).decode()}"))
    assert answer.status == status
    if status == 401:
        assert error(answer) == (401, "invalid_client")
        assert "www-authenticate" in answer.headers


@pytest.mark.parametrize("header", ["Basic !!!", "Basic", "Bearer sra_x", "Basic eA==", "Basic /w=="])
def test_an_odd_authorization_header_is_refused_cleanly(
    service: Service, owner: FarOwner, client_id: str, header: str
) -> None:
    """Attack 42."""
    answer = send(service, exchange(client_id, owner.code(client_id, HERE)), ("Authorization", header))
    assert error(answer) == (401, "invalid_client")


def test_two_names_for_one_client_are_refused(service: Service, client_id: str) -> None:
    """RFC 6749 §2.3: one way of authenticating at a time."""
    header = ("Authorization", f"Basic {base64.b64encode(b'other:').decode()}")
    assert error(send(service, exchange(client_id, "src_x"), header)) == (400, "invalid_request")


def test_an_error_says_no_word_of_what_was_sent(service: Service, client_id: str) -> None:
    """Attack 13, attack 84."""
    planted = "plantedVALUE0123456789"
    for fields in (
        exchange(planted, planted),
        exchange(client_id, planted, code_verifier=planted),
        renewal(client_id, planted, scope=planted),
        {"grant_type": planted, "client_id": client_id},
    ):
        answer = send(service, fields)
        assert answer.status in (400, 401)
        assert planted not in answer.body.decode()
        assert planted not in str(answer.headers)
    assert planted not in service.log


# -- registration --------------------------------------------------------------------------------------------------------


def test_a_registration_is_answered_with_what_was_taken(service: Service) -> None:
    """RFC 7591 §3.2.1; auth.md 4.4 plane-mcp-server#159: Cursor's body; attack 45."""
    told = {
        "client_name": "Cursor",
        "redirect_uris": [
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "https://www.cursor.com/agents/mcp/oauth/callback",
            "http://localhost:8787/callback",
            "https://evil.example/cb",
        ],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_post",
        "scope": "vault:read offline_access admin",
        "logo_uri": "http://169.254.169.254/",
    }
    answer = register(service, told)
    assert (answer.status, answer.headers["cache-control"]) == (201, "no-store")
    said = json.loads(answer.body)
    assert said["redirect_uris"] == told["redirect_uris"][:3]
    assert said["token_endpoint_auth_method"] == "none"
    assert said["scope"] == "vault:read offline_access"
    assert "client_secret" not in said
    assert "logo_uri" not in said


@pytest.mark.parametrize(
    "uri", ["javascript:alert(1)", "data:text/html,x", "file:///x", "vbscript:x", "https://evil.example/"]
)
def test_a_redirect_that_is_not_allowed_is_no_registration(service: Service, uri: str) -> None:
    """Attack 10, attack 11; auth.md 4.4 GHSA-wx5f-576r-gpcx."""
    answer = register(service, {"redirect_uris": [uri]})
    assert error(answer) == (400, "invalid_redirect_uri")
    assert answer.headers["cache-control"] == "no-store"


def test_registration_takes_json_only(service: Service) -> None:
    """A page of another site can send text/plain without asking first."""
    body = json.dumps({"redirect_uris": [HERE]}).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        answer = service.ask("/oauth/register", [("Content-Type", kind)], method="POST", body=body)
        assert error(answer) == (400, "invalid_client_metadata")


def test_registration_can_be_switched_off(tmp_path_factory: pytest.TempPathFactory) -> None:
    """auth.md 7.2: known clients still come in; the metadata does not name what is not there."""
    with Service.start(tmp_path_factory.mktemp("off"), REGISTRATION="off") as service:
        assert error(register(service, {"redirect_uris": [HERE]})) == (403, "access_denied")
        metadata = json.loads(service.ask("/.well-known/oauth-authorization-server").body)
        assert "registration_endpoint" not in metadata
        assert metadata["client_id_metadata_document_supported"] is True


# -- giving back ---------------------------------------------------------------------------------------------------------


def test_a_public_client_gives_back_its_tokens(service: Service, owner: FarOwner, client_id: str) -> None:
    """Attack 80; RFC 7009; auth.md 4.4 python-sdk#3508: without a secret, with whatever hint."""
    said = signed_in(service, owner, client_id)
    other = registered(service)
    for fields in (
        {"client_id": other, "token": said["access_token"]},
        {"client_id": other, "token": said["refresh_token"]},
        {"client_id": client_id, "token": "garbage"},
        {"client_id": "nobody", "token": said["access_token"]},
    ):
        answer = send(service, fields, path="/oauth/revoke")
        assert (answer.status, answer.body, answer.headers["cache-control"]) == (200, b"", "no-store")
    assert works(service, said["access_token"])
    hint = {"token_type_hint": "no_such_hint"}
    assert (
        send(service, {"client_id": client_id, "token": said["access_token"], **hint}, path="/oauth/revoke").status
        == 200
    )
    assert not works(service, said["access_token"])
    renewed = json.loads(send(service, renewal(client_id, said["refresh_token"])).body)
    assert works(service, renewed["access_token"])
    send(service, {"client_id": client_id, "token": renewed["refresh_token"]}, path="/oauth/revoke")
    assert not works(service, renewed["access_token"])
    assert error(send(service, renewal(client_id, renewed["refresh_token"]))) == (400, "invalid_grant")
    assert error(send(service, {"client_id": client_id}, path="/oauth/revoke")) == (400, "invalid_request")
    assert error(send(service, {"token": "x"}, path="/oauth/revoke")) == (401, "invalid_client")


def test_renewing_while_it_is_revoked_leaves_no_token(service: Service, owner: FarOwner) -> None:
    """Attack 79: the command, as another process, against renewals over HTTP."""
    client_id = registered(service, client_name="Racing")
    token = signed_in(service, owner, client_id)["refresh_token"]
    got: list[dict[str, Any]] = []
    is_over = threading.Event()

    def renew() -> None:
        held = token
        while not is_over.is_set():
            answer = send(service, renewal(client_id, held))
            if answer.status != 200:
                return
            got.append(json.loads(answer.body))
            held = got[-1]["refresh_token"]

    threads = [threading.Thread(target=renew) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert service.cli("tokens", "revoke", "Racing").returncode == 0
    finally:
        is_over.set()
        for thread in threads:
            thread.join(20)
    assert got
    assert not any(works(service, one["access_token"]) for one in got[-5:])
    assert all(send(service, renewal(client_id, one["refresh_token"])).status != 200 for one in got[-5:])


# -- pages and neighbours ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", DOORS[:3])
def test_pages_may_call_the_doors_without_credentials(service: Service, path: str) -> None:
    """Attack 46; auth.md 4.1 Inspector; a page of another site is told 403 (attack 72)."""
    origin = ("Origin", "http://localhost:6274")
    asked = [origin, ("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "content-type")]
    preflight = service.ask(path, asked, method="OPTIONS")
    answer = service.ask(path, [FORM, origin], method="POST", body=b"x=1")
    assert preflight.status == 204
    assert "post" in preflight.headers["access-control-allow-methods"]
    for one in (preflight, answer):
        assert one.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in one.headers
    assert service.ask(path, [FORM, ("Origin", "https://evil.example")], method="POST", body=b"").status == 403


def test_nobody_is_turned_away_for_sharing_an_address(service: Service) -> None:
    """auth.md 4.4 claude-ai-mcp#709: hosted clients share a few addresses; 500 different ones, and no 429."""
    statuses = set()
    with ThreadPoolExecutor(8) as pool:
        for answer in pool.map(lambda number: send(service, renewal(f"dcr-{number}", "srr_x")), range(500)):
            statuses.add(answer.status)
    assert statuses == {401}


def test_a_state_that_is_gone_lets_nobody_in(graceless: Service) -> None:
    """Attack 82: the database deleted under the running service; 503, and the log says it without a secret."""
    owner, client_id = FarOwner(graceless, graceless.url), registered(graceless)
    said = signed_in(graceless, owner, client_id)
    for name in ("strongroom.db", "strongroom.db-wal", "strongroom.db-shm"):
        (graceless.state / name).unlink(missing_ok=True)
    answers = [
        send(graceless, renewal(client_id, said["refresh_token"])),
        send(graceless, {"client_id": client_id, "token": said["access_token"]}, path="/oauth/revoke"),
        register(graceless, {"redirect_uris": [HERE]}),
    ]
    for answer in answers:
        assert error(answer) == (503, "temporarily_unavailable")
        assert answer.headers["cache-control"] == "no-store"
        assert "retry-after" in answer.headers
    assert said["refresh_token"] not in graceless.log
