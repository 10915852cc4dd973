"""Raw requests of both eras, and answers that are read as they come: when they began, what came, when and how they ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import anyio
import anyio.to_thread
import httpx2

from tests.support.service import MODERN, Service

PROMISED_S: Final = 1.0
"""From the commit of a revocation to the end of its streams (decisions.md 20)."""


def request(method: str, era: str, **params: object) -> tuple[dict[str, object], dict[str, str]]:
    """A message and the headers that go with it."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if era == MODERN:
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        }
        given = params.get("_meta")
        params["_meta"] = {**meta, **given} if isinstance(given, dict) else meta
        headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if "name" in params:
            headers["Mcp-Name"] = str(params["name"])
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers


async def in_thread(work: Callable[[], Any]) -> Any:
    return await anyio.to_thread.run_sync(work)


class Stream:
    """A raw answer, read in the background: when it began, what came, when and how it ended."""

    def __init__(self) -> None:
        self.begun, self.ended = anyio.Event(), anyio.Event()
        self.status = 0
        self.received = b""
        self.ended_at = 0.0
        self.error: Exception | None = None

    async def run(self, service: Service, token: str, method: str, era: str, **params: object) -> None:
        message, headers = request(method, era, **params)
        try:
            async with (
                httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}", **headers}, timeout=60) as http,
                http.stream("POST", f"{service.url}/mcp", json=message) as answer,
            ):
                self.status = answer.status_code
                async for piece in answer.aiter_bytes():
                    self.received += piece
                    self.begun.set()
        except httpx2.HTTPError as error:
            self.error = error
        self.ended_at = time.monotonic()
        self.ended.set()
