"""The lightest client that speaks MCP over HTTP: a kept connection, a request that is made ready, an answer that is read.

A crowd of official clients needs more of the processor than the server that it asks, and would measure itself.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.support.service import MODERN


def request(port: int, era: str, tool: str, query: str, token: str = "") -> bytes:
    """One call of a tool, as bytes."""
    params: dict[str, Any] = {"name": tool, "arguments": {"query": query}}
    headers = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    if era == MODERN:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        }
        headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": tool}
    else:
        headers |= {"MCP-Protocol-Version": "2025-11-25"}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers["Content-Length"] = str(len(body))
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body


class Connection:
    """One connection that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @staticmethod
    async def to(port: int) -> Connection:
        return Connection(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, asked: bytes) -> tuple[Mapping[str, str], bytes]:
        """Send a request and read its answer to the end: headers and body.

        Raises:
            AssertionError: the call did not succeed.
        """
        self._writer.write(asked)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        if "content-length" in headers:
            body = await self._reader.readexactly(int(headers["content-length"]))
        else:
            body = b"".join([piece async for piece in self._pieces()])
        assert first.split()[1] == "200", f"{first} {body[:200]!r}"
        assert b'"result"' in body, body[:300]
        assert b'"isError":true' not in body, body[:300]
        return headers, body

    async def _pieces(self) -> Any:
        while size := int((await self._reader.readline()).partition(b";")[0], 16):
            yield await self._reader.readexactly(size)
            await self._reader.readexactly(2)
        await self._reader.readline()

    def close(self) -> None:
        self._writer.close()


async def answers_json(port: int, token: str, query: str) -> bool:
    """Whether a search is answered as JSON, not as a stream of events."""
    connection = await Connection.to(port)
    headers, _ = await connection.ask(request(port, MODERN, "search_notes", query, token))
    connection.close()
    return headers["content-type"].startswith("application/json")


async def crowd(
    port: int, era: str, tool: str, queries: Sequence[str], clients: int, within_s: float, *, token: str = ""
) -> list[float]:
    """Milliseconds of each call that was answered in the time; no query is asked twice."""
    ready = iter([request(port, era, tool, query, token) for query in queries])
    ends = time.perf_counter() + within_s
    found = await asyncio.gather(*(_one(port, ready, ends) for _ in range(clients)))
    return [took for one in found for took in one]


async def _one(port: int, ready: Iterator[bytes], ends: float) -> list[float]:
    connection = await Connection.to(port)
    took = []
    for asked in ready:
        began = time.perf_counter()
        if began > ends:
            break
        await connection.ask(asked)
        took.append(1000 * (time.perf_counter() - began))
    connection.close()
    return took
