"""A split Strongroom: the edge holds the grants, home the vault; every request between them is signed.

decisions.md 19 and 20; auth.md 7.8. The two run as two processes, with a hop between them that a test can look into, hold up
and cut.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from service.auth.assertion import ANSWER_HEADER, HEADER, Call, Keys, meaningful, said
from service.auth.model import READ, WRITE, Grant
from service.web.origin import SILENT_S
from tests.support import golden
from tests.support.clock import HeldClock
from tests.support.rooms import ALL_TOOLSETS
from tests.support.service import ERAS, LEGACY, MODERN, Answer, Service, text_of, wait_until
from tests.support.split import KEY, Split, Tunnel, beside, split
from tests.support.streams import PROMISED_S, Stream, in_thread, request

pytestmark = pytest.mark.anyio
NOT_FOUND = Answer(404, {"content-length": "0", "connection": "close"}, b"")
SECRET = "0123456789abcdef0123456789abcdef-home"
LIST = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}
LISTENED = {"notifications": {"toolsListChanged": True}}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Split]:
    """Both halves, with tools at home that behave badly."""
    folder = tmp_path_factory.mktemp("split")
    with split(folder, module="tests.support.odd_tools", home={"TOOLSETS": ALL_TOOLSETS}) as both:
        yield both


@pytest.fixture(scope="module")
def token(both: Split) -> str:
    return both.edge.token("laptop")


# -- it works -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_the_real_client_reads_and_writes_through_both_halves(both: Split, token: str, era: str) -> None:
    """decisions.md 19: the grant lives at the edge, the note at home, where history names the grant."""
    name = f"Through {era}.md"
    async with both.edge.client(token, era) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} >= {"read_note", "create_note"}
        made = await client.call_tool("create_note", {"path": name, "content": "# Through\n"})
        assert not made.is_error, text_of(made)
        assert "# Through" in text_of(await client.call_tool("read_note", {"path": name}))
    assert (both.home.vault / name).read_text() == "# Through\n"
    assert list(both.edge.vault.iterdir()) == []
    both.home.cli("commit")
    assert "laptop" in both.home.cli("history", name).stdout


@pytest.mark.parametrize("era", ERAS)
async def test_a_read_only_grant_of_the_edge_writes_nothing_at_home(both: Split, era: str) -> None:
    """decisions.md 19: scopes are enforced at home. Attack 68 through the chain."""
    reader = both.edge.token(f"reader {era}", "--read-only")
    async with both.edge.client(reader, era) as client:
        assert "create_note" not in {tool.name for tool in (await client.list_tools()).tools}
        with contextlib.suppress(MCPError):
            refused = await client.call_tool("create_note", {"path": f"No {era}.md", "content": "x"})
            assert refused.is_error
    assert not (both.home.vault / f"No {era}.md").exists()


async def test_the_golden_session_is_answered_as_by_one_that_stands_alone_and_leaves_no_trace_at_the_edge(
    tmp_path: Path,
) -> None:
    """The issue: the edge never stores or logs vault content. Its state, its log and its mapped files are searched."""
    if not golden.ARCHIVE.exists():
        pytest.skip("the real vault lies in the shared folder beside the checkout, and is not there")
    sentence = "a xylograph hides in the quincunx"
    (tmp_path / "home").mkdir()
    vault = golden.laid_out(tmp_path / "home")
    with split(tmp_path, home={"TOOLSETS": ALL_TOOLSETS, "TZ": "UTC"}, LOG_LEVEL="debug") as both:
        page = golden.rendered(await golden.played(both.edge, vault))
        assert page == (golden.FOLDER / "answers.txt").read_text(encoding="utf-8")
        planted = both.edge.token("planted")
        for era in ERAS:
            async with both.edge.client(planted, era) as client:
                await client.call_tool("create_note", {"path": f"{sentence} {era}.md", "content": f"# {sentence}\n"})
                assert sentence in text_of(await client.call_tool("read_note", {"path": f"{sentence} {era}.md"}))
                await client.call_tool("search_notes", {"query": sentence})
        mapped = _files_of(both.edge.process.pid)
        kept = [path for path in both.edge.folder.rglob("*") if path.is_file()] + mapped
        assert {path.name for path in kept} >= {"strongroom.db", "stdout", "stderr"}
        titles = {note.stem for note in vault.rglob("*.md") if len(note.stem) > 12}
        for path in kept:
            found = path.read_bytes().decode("utf-8", "replace")
            assert [word for word in ("xylograph", "quincunx") if word in found] == [], path
            assert [title for title in titles if title in found] == [], path


def _files_of(pid: int) -> list[Path]:
    """What the process has mapped or open and could have written to: not its programs."""
    maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    mapped = {Path(found[1]) for found in re.finditer(r"^\S+ \S*w\S* .*? (/.*)$", maps, re.MULTILINE)}
    opened = {path.resolve() for path in Path(f"/proc/{pid}/fd").iterdir()}
    return [path for path in mapped | opened if path.is_file() and not re.search(r"\.so[.\d]*$", path.name)]


async def test_what_only_waits_is_passed_on_piece_by_piece(both: Split, token: str) -> None:
    """No buffering: the first event of a stream that stays open arrives while it is open."""
    stream = Stream()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: stream.run(both.edge, token, "subscriptions/listen", MODERN, **LISTENED))
            await stream.begun.wait()
            assert not stream.ended.is_set()
            assert b"event:" in stream.received
            tasks.cancel_scope.cancel()


async def test_one_who_hangs_up_at_the_edge_is_hung_up_on_at_home(both: Split, token: str) -> None:
    """What a client leaves is left at home too, with nothing written afterwards."""
    name = "left"
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            call = Stream()
            tasks.start_soon(
                lambda: call.run(
                    both.edge, token, "tools/call", LEGACY, name="write_when_told", arguments={"name": name}
                )
            )
            await in_thread(lambda: wait_until((both.home.state / f"{name}.begun").exists, 15, "begin"))
            tasks.cancel_scope.cancel()
        await in_thread(lambda: wait_until(lambda: _outcomes(both.home)[-1:] == ["CANCELLED"], 5, "end at home"))
    (both.home.state / f"{name}.go").touch()
    await in_thread(lambda: wait_until((both.home.state / f"{name}.done").exists, 15, "go on to its end"))
    assert not (both.home.vault / f"{name}.md").exists()


def _outcomes(service: Service) -> list[str]:
    return [line["outcome"] for line in service.lines("tool.called")]


# -- revocation -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_revocation_at_the_edge_stops_a_write_at_home(both: Split, era: str) -> None:
    """decisions.md 20: within a second the stream ends, and no write of that grant becomes visible afterwards."""
    name = f"late-{era}"
    doomed = await in_thread(lambda: both.edge.token(name))
    call = Stream()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                lambda: call.run(both.edge, doomed, "tools/call", era, name="write_when_told", arguments={"name": name})
            )
            await in_thread(lambda: wait_until((both.home.state / f"{name}.begun").exists, 15, "begin"))
            await in_thread(lambda: both.edge.cli_json("tokens", "revoke", name))
            committed_by = time.monotonic()
            await call.ended.wait()
    assert call.ended_at - committed_by < PROMISED_S
    assert call.error is None
    assert b"written" not in call.received
    await in_thread(lambda: wait_until(lambda: _outcomes(both.home)[-1:] == ["CANCELLED"], PROMISED_S, "end at home"))
    (both.home.state / f"{name}.go").touch()
    await in_thread(lambda: wait_until((both.home.state / f"{name}.done").exists, 15, "go on to its end"))
    assert not (both.home.vault / f"{name}.md").exists()


@pytest.mark.parametrize("era", ERAS)
async def test_a_write_of_a_living_grant_goes_through_both_halves(both: Split, token: str, era: str) -> None:
    """The counterpart: the tool of the test above does write."""
    name = f"alive-{era}"
    (both.home.state / f"{name}.go").touch()
    async with both.edge.client(token, era) as client:
        assert text_of(await client.call_tool("write_when_told", {"name": name})) == "written"
    assert (both.home.vault / f"{name}.md").read_text() == "written"


async def test_an_open_stream_through_both_halves_ends_cleanly_within_a_second(both: Split) -> None:
    """Attack 76, 77: the doomed one ends with its last chunk, another grant's lives on."""
    tokens = {name: await in_thread(lambda name=name: both.edge.token(name)) for name in ("doomed", "kept")}
    streams = {name: Stream() for name in tokens}
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            for name, stream in streams.items():
                tasks.start_soon(
                    lambda name=name, stream=stream: stream.run(
                        both.edge, tokens[name], "subscriptions/listen", MODERN, **LISTENED
                    )
                )
                await stream.begun.wait()
            await in_thread(lambda: both.edge.cli_json("tokens", "revoke", "doomed"))
            committed_by = time.monotonic()
            await streams["doomed"].ended.wait()
            assert streams["doomed"].ended_at - committed_by < PROMISED_S
            assert (streams["doomed"].status, streams["doomed"].error) == (200, None)
            assert not streams["kept"].ended.is_set()
            tasks.cancel_scope.cancel()


@pytest.mark.parametrize("era", ERAS)
async def test_a_write_that_was_held_up_in_the_tunnel_and_revoked_meanwhile_is_not_made(
    tmp_path: Path, era: str
) -> None:
    """decisions.md 20: it arrives at home long afterwards, with the end of its connection right behind it."""
    with split(tmp_path) as both:
        token = both.edge.token("late")
        assert both.edge.post(token, LIST).status == 200
        call = Stream()
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                both.tunnel.stall()
                arguments = {"path": "late.md", "content": "x"}
                tasks.start_soon(
                    lambda: call.run(both.edge, token, "tools/call", era, name="create_note", arguments=arguments)
                )
                await in_thread(lambda: wait_until(lambda: _is_open(both.edge), 10, "be at work"))
                await in_thread(lambda: both.edge.cli_json("tokens", "revoke", "late"))
                committed_by = time.monotonic()
                await call.ended.wait()
                assert call.ended_at - committed_by < PROMISED_S
        seen = len(both.home.lines("tool.called"))
        both.tunnel.flow()
        other = both.edge.token("other")
        wait_until(lambda: both.edge.post(other, LIST).status == 200, 20, "go on")
        assert all(line["outcome"] == "CANCELLED" for line in both.home.lines("tool.called")[seen:])
        assert list(both.home.vault.rglob("late.md")) == []


def _is_open(edge: Service) -> bool:
    """Whether a request of the grant is in flight."""
    return any(grant["streams"] for grant in edge.cli_json("tokens", "list"))


async def test_what_the_edge_vouched_for_is_over_when_it_is_not_heard_of_any_more(tmp_path: Path) -> None:
    """A tunnel that went away without a word hides that the edge closed a connection: home waits SILENT_S, no longer."""
    with split(tmp_path, module="tests.support.odd_tools") as both:
        token = both.edge.token("laptop")
        call = Stream()
        with anyio.fail_after(40):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(
                    lambda: call.run(
                        both.edge, token, "tools/call", LEGACY, name="write_when_told", arguments={"name": "mute"}
                    )
                )
                await in_thread(lambda: wait_until((both.home.state / "mute.begun").exists, 15, "begin"))
                both.tunnel.stall()
                await in_thread(
                    lambda: wait_until(lambda: both.home.lines("edge.silent") != [], 3 * SILENT_S, "notice the silence")
                )
                (both.home.state / "mute.go").touch()
                await in_thread(lambda: wait_until((both.home.state / "mute.done").exists, 15, "go on to its end"))
                assert not (both.home.vault / "mute.md").exists()
                both.tunnel.flow()
                await call.ended.wait()
        assert b"written" not in call.received


# -- who is not the edge --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The half at home alone, with an origin secret of its own."""
    with Service.start(tmp_path_factory.mktemp("home"), EDGE_KEY=KEY, ORIGIN_SECRET=SECRET) as service:
        yield service


@pytest.fixture(scope="module")
def static(home: Service) -> str:
    """A token of home's own, which is good for nothing over HTTP."""
    return home.token("static")


PATHS = [
    "/", "/mcp", "/mcp/", "//mcp", "/mcp%2f", "/MCP", "/edge/ping", "/edge", "/authorize", "/token", "/register", "/oauth/token",
    "/oauth/consent", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/docs", "/healthz", "/readyz", "*",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
def test_home_is_the_same_empty_404_for_whoever_does_not_sign(
    home: Service, static: str, path: str, method: str
) -> None:
    """Attack 89 and the issue: with a static token of home or the secret or neither, whatever Host or Origin is named."""
    odd = [
        [],
        [("x-origin-secret", SECRET)],
        [("x-origin-secret", SECRET), ("Authorization", f"Bearer {static}")],
        [("x-origin-secret", SECRET), ("Host", "evil.example"), ("Origin", "https://evil.example")],
        [("x-origin-secret", SECRET), (HEADER.decode(), "v1.x.y")],
        [("x-origin-secret", SECRET), ("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-Host", "localhost")],
    ]
    assert [home.ask(path, headers, method=method) for headers in odd] == [NOT_FOUND] * len(odd)


def test_homes_health_is_told_to_the_health_check_alone(home: Service) -> None:
    """The tunnel's far end comes out on loopback as well, so at home loopback is no proof; the key is."""
    assert home.ask("/readyz", [("x-origin-secret", SECRET), ("x-strongroom-health", "0" * 64)]) == NOT_FOUND
    where = {"STRONGROOM_PORT": str(home.port)}
    wait_until(lambda: home.cli("health", **where).returncode == 0, 20, "be ready")
    assert home.cli("health", **where, STRONGROOM_EDGE_KEY=f"{KEY},{KEY[::-1]}").returncode == 0
    assert "404" in home.cli("health", **where, STRONGROOM_EDGE_KEY=KEY[::-1]).stdout


NOW = HeldClock(datetime(2026, 1, 1, tzinfo=UTC), ZoneInfo("UTC"))
BODY = json.dumps(LIST).encode()


class Stranger:
    """Somebody who signs, well or badly."""

    def __init__(self, home: Service) -> None:
        self._home = home
        self.usual = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")]
        answer = self.send("/edge/ping", headers=(), body=b"", is_ping=True)
        assert answer.status == 204
        self.start = answer.headers[ANSWER_HEADER.decode()].partition(".")[0]

    def signed(
        self,
        path: str = "/mcp",
        *,
        headers: object = None,
        body: bytes = BODY,
        is_ping: bool = False,
        key: str = KEY,
        to: str | None = None,
        late_s: float = 0,
    ) -> str:
        given = self.usual if headers is None else headers
        passed = meaningful([(name.encode(), value.encode()) for name, value in given])  # type: ignore[attr-defined]
        clock = HeldClock(datetime.now(UTC) - timedelta(seconds=late_s), ZoneInfo("UTC"))
        grant = Grant("abc234", "edge", "laptop", frozenset((READ, WRITE)), NOW.now())
        call = Call.of("POST", path, passed, body)
        to = "" if is_ping else (self.start if to is None else to)
        return Keys((key,)).sign(said(call, None if is_ping else grant, to, clock))

    def send(
        self,
        path: str = "/mcp",
        *,
        signature: str | None = None,
        headers: object = None,
        body: bytes = BODY,
        **how: object,
    ) -> Answer:
        signature = self.signed(path, headers=headers, body=body, **how) if signature is None else signature  # type: ignore[arg-type]
        given = self.usual if headers is None else list(headers)  # type: ignore[call-overload]
        return self._home.ask(
            path, [*given, ("x-origin-secret", SECRET), (HEADER.decode(), signature)], method="POST", body=body
        )


def test_home_believes_what_is_signed_for_it_once(home: Service) -> None:
    """decisions.md 19. What was recorded in the tunnel is good for nothing, with whatever about it is changed."""
    one = Stranger(home)
    good = one.signed()
    assert one.send(signature=good).status == 200
    refused = {
        "sent again": one.send(signature=good),
        "another body": one.send(signature=one.signed(), body=BODY.replace(b"7", b"8")),
        "another header": one.send(signature=one.signed(), headers=[*one.usual, ("mcp-name", "x")]),
        "another path": one.send("/edge/ping", signature=one.signed()),
        "with a query": one.send("/mcp?x=1", signature=one.signed("/mcp?x=1")),
        "a ping's": one.send(signature=one.signed(is_ping=True)),
        "another key": one.send(key=KEY[::-1]),
        "for another start of home": one.send(to="0" * 32),
        "for none": one.send(to=""),
        "too late": one.send(late_s=90),
        "too early": one.send(late_s=-90),
        "one letter off": one.send(signature=good[:-1] + ("A" if good[-1] != "A" else "B")),
        "without the origin secret": home.ask(
            "/mcp", [*one.usual, (HEADER.decode(), one.signed())], method="POST", body=BODY
        ),
        "twice": home.ask(
            "/mcp",
            [*one.usual, ("x-origin-secret", SECRET), *[(HEADER.decode(), one.signed())] * 2],
            method="POST",
            body=BODY,
        ),
    }
    assert {what: answer for what, answer in refused.items() if answer != NOT_FOUND} == {}
    assert one.send(late_s=50).status == 200
    assert one.send(late_s=-50).status == 200


def test_a_request_recorded_before_home_was_restarted_is_refused_afterwards(tmp_path: Path) -> None:
    """Its nonce is forgotten then; so it is bound to the start of home that it was made for."""
    with Service.start(tmp_path, EDGE_KEY=KEY, ORIGIN_SECRET=SECRET) as service:
        unused = Stranger(service).signed()
        service.process.kill()
    with Service.start(tmp_path, EDGE_KEY=KEY, ORIGIN_SECRET=SECRET) as service:
        one = Stranger(service)
        assert one.send(signature=unused) == NOT_FOUND
        assert one.send().status == 200


def test_what_the_tunnel_carries_holds_no_token_of_the_clients(both: Split, token: str) -> None:
    """The grant is told, what let it in is not; and a forwarded header goes no further than the edge (complaint 54)."""
    both.tunnel.sent.clear()
    spoof = [
        ("X-Forwarded-For", "203.0.113.9"),
        ("X-Forwarded-Host", "evil.example"),
        ("Cookie", "c=1"),
        ("X-Odd", "odd"),
    ]
    both.tunnel.cut()
    assert both.edge.post(token, LIST, *spoof).status == 200
    went = b"".join(bytes(one) for one in both.tunnel.sent).lower()
    assert b"post /mcp" in went
    for word in (token.encode().lower(), b"authorization", b"203.0.113.9", b"evil.example", b"cookie", b"x-odd"):
        assert word not in went


# -- home is away ---------------------------------------------------------------------------------------------------------


def told(answer: Answer) -> Mapping[str, object]:
    error = json.loads(answer.body)
    assert error["id"] == LIST["id"]
    return error["error"]  # type: ignore[no-any-return]


async def test_while_home_is_away_clients_are_told_and_afterwards_all_is_as_before(tmp_path: Path) -> None:
    """A clear answer without internals; nothing to be restarted at the edge when home returns."""
    (tmp_path / "home").mkdir()
    with contextlib.closing(Tunnel(1)) as tunnel, beside(tunnel, tmp_path / "edge") as edge:
        token = edge.token("laptop")
        assert edge.ask("/readyz").status == 503
        assert edge.ask("/healthz").status == 200
        for _ in range(2):
            answer = edge.post(token, LIST)
            assert answer.status == 503, answer
            assert (answer.status, answer.headers["retry-after"]) == (503, "5")
            assert "not reachable" in str(told(answer))
            assert "127.0.0.1" not in str(answer)
            with Service.start(tmp_path / "home", EDGE_KEY=KEY) as home:
                tunnel.target = home.port
                await in_thread(lambda: wait_until(lambda: edge.ask("/readyz").status == 200, 10, "find home"))
                async with edge.client(token) as client:
                    assert (await client.list_tools()).tools
                home.process.kill()
            await in_thread(lambda: wait_until(lambda: edge.ask("/readyz").status == 503, 15, "miss home"))
        assert edge.process.poll() is None


async def test_what_answers_in_homes_place_is_not_believed(tmp_path: Path) -> None:
    """A tunnel's error page, or another program on its port: 502, and nothing of what it said."""
    with contextlib.closing(Tunnel(1)) as tunnel, Service.start(tmp_path) as stranger:
        tunnel.target = stranger.port
        with beside(tunnel, tmp_path / "edge") as edge:
            token = edge.token("laptop")
            answer = edge.post(token, LIST)
            assert answer.status == 503
            assert "not home" in edge.ask("/readyz").body.decode()


async def test_an_answer_that_breaks_off_is_not_taken_for_a_whole_one(both: Split, token: str) -> None:
    """complaint 58: a write is not sent again; the client is told to look whether it was done."""
    call = Stream()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                lambda: call.run(
                    both.edge, token, "tools/call", LEGACY, name="write_when_told", arguments={"name": "broken"}
                )
            )
            await in_thread(lambda: wait_until((both.home.state / "broken.begun").exists, 15, "begin"))
            both.tunnel.cut()
            await call.ended.wait()
    assert b"look whether it was changed" in call.received
    (both.home.state / "broken.go").touch()
    await in_thread(lambda: wait_until((both.home.state / "broken.done").exists, 15, "go on to its end"))
    assert not (both.home.vault / "broken.md").exists()
    began = [line for line in both.home.lines("tool.called") if line["tool"] == "write_when_told"]
    assert both.edge.post(token, LIST).status == 200
    assert [line for line in both.home.lines("tool.called") if line["tool"] == "write_when_told"] == began


# -- how it is started ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (("serve", "--origin"), {}),
        (("edge",), {}),
        (("edge",), {"STRONGROOM_EDGE_KEY": KEY}),
        (("edge",), {"STRONGROOM_HOME_URL": "http://127.0.0.1:9"}),
        (("edge",), {"STRONGROOM_EDGE_KEY": "short", "STRONGROOM_HOME_URL": "http://127.0.0.1:9"}),
    ],
)
def test_neither_half_starts_without_what_it_needs(
    home: Service, words: tuple[str, ...], settings: dict[str, str]
) -> None:
    """A forgotten key must not make the half at home one that anybody may ask."""
    bare = dict.fromkeys(("STRONGROOM_EDGE_KEY", "STRONGROOM_ORIGIN_SECRET"), "")
    done = home.cli(*words, **{**bare, **settings})
    assert done.returncode == 7
    assert "STRONGROOM_EDGE_KEY" in done.stderr
    assert "short" not in done.stderr


def test_the_key_is_changed_without_a_gap(tmp_path: Path) -> None:
    """Home believes both for a while: first home knows the new one, then the edge, then home forgets the old."""
    new = KEY[::-1]
    with split(tmp_path, home={"EDGE_KEY": f"{new},{KEY}"}) as both:
        token = both.edge.token("laptop")
        assert both.edge.post(token, LIST).status == 200
        with beside(both.tunnel, tmp_path / "renewed", EDGE_KEY=new) as renewed:
            wait_until(lambda: renewed.ask("/readyz").status == 200, 10, "find home")
            assert renewed.post(renewed.token("laptop"), LIST).status == 200


def test_each_half_has_an_origin_secret_of_its_own(tmp_path: Path) -> None:
    """Attack 89, 90: the one before the edge goes no further, the one before home is sent by the edge."""
    front = SECRET[::-1]
    with split(tmp_path, home={"ORIGIN_SECRET": SECRET}, ORIGIN_SECRET=front, HOME_SECRET=SECRET) as both:
        token = both.edge.token("laptop")
        assert both.edge.post(token, LIST) == NOT_FOUND
        assert both.edge.post(token, LIST, ("x-origin-secret", SECRET)) == NOT_FOUND
        assert both.edge.post(token, LIST, ("x-origin-secret", front)).status == 200
        went = b"".join(bytes(one) for one in both.tunnel.sent)
        assert SECRET.encode() in went
        assert front.encode() not in went
        said = both.edge.log + both.edge.errors + both.home.log + both.home.errors
        assert [word for word in (SECRET, front, KEY, token) if word in said] == []


def test_the_owners_stdio_works_at_home_and_is_sent_there_from_the_edge(both: Split) -> None:
    """The issue: at home the owner's socket works as ever; the edge has no vault to show."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    at_home = both.home.cli("stdio", str(both.home.vault))
    assert at_home.returncode == 0, at_home.stderr
    assert asked
    at_edge = both.edge.cli("stdio", str(both.edge.vault))
    assert at_edge.returncode != 0
    assert "at home" in at_edge.stderr


def test_both_halves_stop_in_time_with_streams_open(tmp_path: Path) -> None:
    """Attack 94 for both."""
    with split(tmp_path) as both:
        token = both.edge.token("laptop")
        message, headers = request("subscriptions/listen", MODERN, **LISTENED)
        body = json.dumps(message).encode()
        lines = [f"{name}: {value}" for name, value in {**headers, "Authorization": f"Bearer {token}"}.items()]
        head = ["POST /mcp HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *lines]
        for half in (both.home, both.edge):
            with socket.create_connection(("127.0.0.1", both.edge.port), timeout=10) as open_one:
                open_one.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)
                assert open_one.recv(4096)
                assert half.stop() < 5
