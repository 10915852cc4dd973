"""The three ways to run it, in containers: behind a TLS proxy with the origin secret, and split over an outbound-only tunnel,
with the official client and a sign-in through the whole chain.

The issue, "The edge"; decisions.md 19, 20; attacks 72, 76, 89-92; complaints 47, 53, 54.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator

import anyio
import anyio.to_thread
import httpx2
import pytest

from tests.support import chain
from tests.support.appliance import within
from tests.support.chain import SECRET, Box, Chain
from tests.support.engine import Engine
from tests.support.oauth_client import Connection, Connector, Owner
from tests.support.service import ERAS, MODERN, text_of, wait_until
from tests.support.streams import PROMISED_S, request

PATHS = (
    "/",
    "/mcp",
    "/authorize",
    "/healthz",
    "/readyz",
    "/.well-known/oauth-protected-resource",
    "/.well-known/openid-configuration",
)


@pytest.fixture(scope="module")
def tools(engine: Engine) -> str:
    """An image with Caddy and OpenSSH."""
    if not engine.tools_image:
        reason = "no image with Caddy and OpenSSH: tests/container/engine-setup says why"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    return engine.tools_image


@pytest.fixture(scope="module")
def split(engine: Engine, image: str, tools: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    with chain.split(engine, image, tools, tmp_path_factory.mktemp("split")) as running:
        running.wait_until_ready()
        yield running


@pytest.fixture(scope="module")
def alone(engine: Engine, image: str, tools: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    with chain.alone(engine, image, tools, tmp_path_factory.mktemp("alone")) as running:
        running.wait_until_ready()
        yield running


@pytest.fixture(params=["alone", "split"])
def running(request: pytest.FixtureRequest, engine: Engine) -> Chain:
    """Both, in turn, on each engine."""
    found: Chain = request.getfixturevalue(request.param)
    return found


def signed_in(running: Chain, name: str, *, is_modern: bool = False) -> Connection:
    """A client that the owner has let in: discovery, registration, page, passphrase, code, tokens, all through the chain."""
    connector = Connector(name, "http://127.0.0.1:33418/callback", is_modern=is_modern)
    connection = Connection(connector, running.internet())
    connection.connect(Owner(connection.internet, passphrase(running.edge)))
    return connection


_PASSPHRASES: dict[str, str] = {}


def passphrase(box: Box) -> str:
    """The one that was made at the first start, which is shown once."""
    if box.name not in _PASSPHRASES:
        _PASSPHRASES[box.name] = box.exec("strongroom", "auth", "passphrase", "--show-initial").stdout.strip()
    return _PASSPHRASES[box.name]


@pytest.mark.parametrize("era", ERAS)
def test_a_client_signs_in_and_works_through_the_whole_chain(running: Chain, era: str) -> None:
    """The issue: the real client through the whole chain, in both eras. complaint 47: the documents lead to the URL typed."""
    connection = signed_in(running, f"Through {era}", is_modern=era == MODERN)
    assert connection.talk.ask("tools/list")["tools"]
    assert connection.tokens is not None
    connection.renew()

    async def work() -> None:
        async with running.client(connection.tokens.access, era) as client:  # type: ignore[union-attr]
            made = await client.call_tool("create_note", {"path": f"{era}.md", "content": "# Through\n"})
            assert not made.is_error, text_of(made)
            assert "# Through" in text_of(await client.call_tool("read_note", {"path": f"{era}.md"}))

    within(30, work)
    holder = running.home or running.edge
    assert holder.exec("cat", f"/vault/{era}.md").stdout == "# Through\n"
    grants = [one for one in running.edge.cli_json("tokens", "list") if one["kind"] == "oauth"]
    assert grants != []
    if running.home is not None:
        assert running.edge.exec("find", "/vault", "-type", "f").stdout == ""
        assert running.home.cli_json("tokens", "list") == []


@pytest.mark.parametrize("era", ERAS)
def test_a_revocation_ends_a_stream_through_the_whole_chain_within_a_second(running: Chain, era: str) -> None:
    """decisions.md 20, attack 76: counted from the end of the command, which has committed before. The stream ends cleanly."""
    token = running.edge.cli_json("tokens", "create", "--name", f"doomed {era}")["token"]
    ended_at = []

    async def listen() -> None:
        message, headers = request("subscriptions/listen", MODERN, notifications={"toolsListChanged": True})
        begun = anyio.Event()

        async def read() -> None:
            async with (
                httpx2.AsyncClient(
                    verify=running.tls, headers={**headers, "Authorization": f"Bearer {token}"}, timeout=60
                ) as http,
                http.stream("POST", f"{running.base}/mcp", json=message) as answer,
            ):
                assert answer.status_code == 200
                async for _ in answer.aiter_raw():
                    begun.set()
            ended_at.append(time.monotonic())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await begun.wait()
            await anyio.to_thread.run_sync(lambda: running.edge.cli_json("tokens", "revoke", f"doomed {era}"))
            ended_at.append(time.monotonic())

    within(40, listen)
    assert max(ended_at) - min(ended_at) < PROMISED_S
    answer = running.internet().ask("POST", f"{running.base}/mcp", {"Authorization": f"Bearer {token}"}, json={})
    assert answer.status_code == 401


def test_every_one_of_many_calls_in_a_row_is_answered(running: Chain) -> None:
    """What the example says about buffering: without it about three of these were empty, over HTTP/1.1."""
    token = running.edge.cli_json("tokens", "create", "--name", "many")["token"]
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_notes", "arguments": {}}}
    with httpx2.Client(verify=running.tls, headers=headers, timeout=20) as client:
        answers = [client.post(f"{running.base}/mcp", json=call).text for _ in range(120)]
    assert [answer for answer in answers if '"result":' not in answer] == []


def test_whoever_goes_past_the_proxy_gets_the_same_empty_404(running: Chain) -> None:
    """Attacks 89, 90: every route, whatever is wrong with the secret; Caddy's own header overwrites a client's."""
    port_at = running.edge.address
    seen = set()
    for path in PATHS:
        for headers in ({}, {"x-origin-secret": SECRET[:-1]}, {"x-origin-secret": SECRET.upper()}):
            answer = httpx2.get(
                f"http://{port_at}:8484{path}", headers={**headers, "Host": f"localhost:{running.port}"}
            )
            seen.add((answer.status_code, answer.content, tuple(sorted(set(answer.headers) - {"date"}))))
    assert seen == {(404, b"", ("content-length",))}
    through = running.internet().ask(
        "GET", f"{running.base}/.well-known/oauth-protected-resource", {"x-origin-secret": "mine"}
    )
    assert through.status_code == 200
    assert SECRET not in running.edge.log
    assert "mine" not in running.edge.log


def test_no_forwarded_header_changes_what_is_answered(running: Chain) -> None:
    """Attack 72, complaints 53 and 54: the documents name the configured address; another Host is 421 past Caddy."""
    spoof = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http", "Forwarded": "host=evil.example"}
    answer = running.internet().ask("GET", f"{running.base}/.well-known/oauth-protected-resource", spoof)
    assert answer.json()["resource"] == f"{running.base}/mcp"
    assert "evil" not in answer.text
    direct = {"x-origin-secret": SECRET, "Host": "evil.example"}
    assert httpx2.get(f"http://{running.edge.address}:8484/mcp", headers=direct).status_code == 421
    for path in ("/mcp/", "//mcp", "/mcp%2f"):
        odd = httpx2.get(f"{running.base}{path}", verify=running.tls)
        assert odd.status_code == 404


def test_the_chain_speaks_http_2_to_those_who_do(running: Chain) -> None:
    """Hosted clients do; what is behind Caddy speaks HTTP/1.1 only."""
    context = running.tls
    context.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection(("127.0.0.1", running.port), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as secured,
    ):
        assert secured.selected_alpn_protocol() == "h2"
    token = running.edge.cli_json("tokens", "create", "--name", "curl")["token"]
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    command = [
        "curl",
        "--silent",
        "--http2",
        "--cacert",
        str(running.authority),
        "-w",
        "\n%{http_version} %{http_code}",
    ]
    command += ["-H", f"Authorization: Bearer {token}", "-H", "Content-Type: application/json"]
    command += ["-H", "Accept: application/json, text/event-stream", "-d", message, f"{running.base}/mcp"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout
    assert said.splitlines()[-1] == "2 200"
    assert "read_note" in said


def test_home_has_no_port_and_is_reached_by_its_own_tunnel_only(split: Chain) -> None:
    """The issue: an outbound-only tunnel. Another container that reaches home's address gets the empty 404."""
    assert split.home is not None
    shown = json.loads(split.engine.run("inspect", split.home.name).stdout)[0]
    assert not any((shown["HostConfig"].get("PortBindings") or {}).values())
    for path in PATHS:
        answer = httpx2.get(f"http://{split.home.address}:8484{path}", headers={"Host": "localhost"})
        assert (answer.status_code, answer.content) == (404, b"")


def test_a_tunnel_that_breaks_is_told_to_clients_and_comes_back_by_itself(split: Chain) -> None:
    """The issue: kill of the tunnel and return."""
    assert split.tunnel is not None
    token = split.edge.cli_json("tokens", "create", "--name", "patient")["token"]
    message = {"jsonrpc": "2.0", "id": 5, "method": "tools/list"}
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}

    def ask() -> httpx2.Response:
        return split.internet().ask("POST", f"{split.base}/mcp", headers, json=message)

    assert ask().status_code == 200
    split.engine.run("stop", "--time", "1", split.tunnel.name)
    wait_until(lambda: not split.edge.is_ready(), 30, "notice that home is away")
    away = ask()
    assert (away.status_code, away.json()["id"]) == (503, 5)
    assert "not reachable" in away.json()["error"]["message"]
    split.engine.run("start", split.tunnel.name)
    split.wait_until_ready()
    assert ask().status_code == 200


def test_nothing_of_the_vault_is_kept_or_said_at_the_edge(split: Chain) -> None:
    """The issue: the edge never stores or logs vault content; nor does the proxy before it."""
    sentence = "a xylograph hides in the quincunx"
    token = split.edge.cli_json("tokens", "create", "--name", "planted")["token"]

    async def plant() -> None:
        for era in ERAS:
            async with split.client(token, era) as client:
                await client.call_tool("create_note", {"path": f"{sentence} {era}.md", "content": sentence})
                assert sentence in text_of(await client.call_tool("read_note", {"path": f"{sentence} {era}.md"}))

    within(30, plant)
    found = split.edge.exec("grep", "-rlE", "xylograph|quincunx", "/state", "/tmp", "/vault", is_checked=False)
    assert (found.returncode, found.stdout) == (1, "")
    assert split.sshd is not None
    for box in (split.edge, split.caddy, split.sshd):
        assert "xylograph" not in box.log
