"""Calling tools as an assistant does: through the SDK's own client, in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from mcp import Client
from mcp_types import CallToolResult, TextContent

from service.auth.model import Grant, acting_as, local
from service.tools.context import Room
from service.tools.register import ResourceSpec, ToolSpec
from service.tools.server import build


class Caller:
    """A client with one grant that may do everything."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: object) -> CallToolResult:
        result = await self.client.call_tool(tool, arguments)
        assert isinstance(result, CallToolResult)
        return result

    async def text(self, tool: str, **arguments: object) -> str:
        """The answer's text; the call must succeed."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    async def facts(self, tool: str, **arguments: object) -> dict[str, object]:
        """The structured content; the call must succeed."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    async def refusal(self, tool: str, **arguments: object) -> str:
        """The text of an error; the call must fail."""
        result = await self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        return text_of(result)


@asynccontextmanager
async def calling(
    room: Room, specs: Sequence[ToolSpec], resources: ResourceSpec | None = None, grant: Grant | None = None
) -> AsyncIterator[Caller]:
    """A client of a server with `specs` over `room`, by default with the owner's own grant."""
    with acting_as(grant or local(datetime(2026, 1, 1, tzinfo=UTC))):
        async with Client(build(room, specs, resources, version="1")) as client:
            yield Caller(client)


def text_of(result: CallToolResult) -> str:
    """The one text of an answer."""
    [part] = result.content
    assert isinstance(part, TextContent)
    return part.text
