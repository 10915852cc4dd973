"""How a call is answered over HTTP: as JSON or as a stream, in both eras, and what ends it. docs/explanation/http.md."""

from __future__ import annotations

import json

import anyio
import httpx2
import pytest

from tests.support.service import ERAS, LEGACY, MODERN, Service, wait_until
from tests.support.streams import in_thread, request

pytestmark = pytest.mark.anyio

JSON = "application/json"
STREAM = "text/event-stream"


async def asked(service: Service, token: str, era: str, accept: str, **params: object) -> tuple[int, str, str]:
    """Status, type and body of a call of `list_notes`."""
    message, headers = request("tools/call", era, name="list_notes", arguments={}, **params)
    headers |= {"Accept": accept, "Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(timeout=30) as http:
        answer = await http.post(f"{service.url}/mcp", json=message, headers=headers)
    return answer.status_code, answer.headers.get("content-type", ""), answer.text


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_is_answered_as_json(service: Service, era: str) -> None:
    """MCP 2025-11-25 and 2026-07-28, transports: a request is answered by one JSON object or a stream, as the server likes."""
    token = await in_thread(lambda: service.token(f"json-{era}"))
    status, kind, body = await asked(service, token, era, f"{JSON}, {STREAM}")
    assert (status, kind) == (200, JSON)
    assert json.loads(body)["result"]["structuredContent"]["total"] >= 0


async def test_who_asks_for_progress_gets_a_stream(service: Service) -> None:
    """MCP 2025-11-25, progress: `_meta.progressToken`; there is no place for it in one JSON object."""
    token = await in_thread(lambda: service.token("progress"))
    status, kind, body = await asked(service, token, LEGACY, f"{JSON}, {STREAM}", _meta={"progressToken": 1})
    assert (status, kind.split(";")[0]) == (200, STREAM)
    assert '"structuredContent"' in body


async def test_the_modern_eras_stream_begins_with_the_first_progress(service: Service) -> None:
    """MCP 2026-07-28: none of our tools reports any, so its answer is JSON even then."""
    token = await in_thread(lambda: service.token("progress-modern"))
    status, kind, _ = await asked(service, token, MODERN, f"{JSON}, {STREAM}", _meta={"progressToken": 1})
    assert (status, kind) == (200, JSON)


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_takes_only_json_is_answered(service: Service, era: str) -> None:
    """MCP wants both to be accepted; older clients and scripts name one, and JSON is all they need."""
    token = await in_thread(lambda: service.token(f"only-json-{era}"))
    status, kind, _ = await asked(service, token, era, JSON)
    assert (status, kind) == (200, JSON)


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_takes_only_streams_is_refused(service: Service, era: str) -> None:
    """MCP 2025-11-25, transports: the client MUST accept JSON; an error could not be told to it."""
    token = await in_thread(lambda: service.token(f"only-streams-{era}"))
    assert (await asked(service, token, era, STREAM))[0] == 406


@pytest.mark.parametrize("wants_progress", [False, True])
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_leaves_ends_its_call(service: Service, era: str, wants_progress: bool) -> None:
    """decisions.md 7: real cancellation, whichever way it would have been answered."""
    name = f"left-{era}-{wants_progress}"
    token = await in_thread(lambda: service.token(name))
    more = {"_meta": {"progressToken": 1}} if wants_progress else {}
    message, headers = request("tools/call", era, name="write_when_told", arguments={"name": name}, **more)

    async def call() -> None:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}", **headers}, timeout=30) as http:
            await http.post(f"{service.url}/mcp", json=message)

    before = len(service.lines("tool.called"))
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await in_thread(lambda: wait_until((service.state / f"{name}.begun").exists, 15, "begin"))
            tasks.cancel_scope.cancel()
        await in_thread(lambda: wait_until(lambda: len(service.lines("tool.called")) > before, 1, "end"))
    assert [line["outcome"] for line in service.lines("tool.called")][-1] == "CANCELLED"
    (service.state / f"{name}.go").touch()
    await in_thread(lambda: wait_until((service.state / f"{name}.done").exists, 15, "go on to its end"))
