"""Our own server with the fixtures that the conformance suite wants to find: tools, resources and prompts of its names.

Only what they answer is for the tests; guard, edge, sessions and the server's class are the real ones. So this shows that
the chain carries the whole protocol, and nothing about our own tools.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import (
    AudioContent,
    CallToolResult,
    Completion,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequiredResult,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from mcp_types import Tool as ListedTool
from pydantic import BaseModel, Field

from service.settings import Settings
from service.tools.context import Room
from service.tools.register import Offer
from service.tools.server import StrongroomServer, Workbench
from tests.conformance import asking
from tests.conformance.asking import Ctx

PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE: Final = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
SCHEMA_2020: Final = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


# -- tools -------------------------------------------------------------------------------------------------------------


def test_simple_text() -> str:
    """Answer with text."""
    return "This is a simple text response for testing."


def test_image_content() -> list[ImageContent]:
    """Answer with an image."""
    return [ImageContent(data=PIXEL, mime_type="image/png")]


def test_audio_content() -> list[AudioContent]:
    """Answer with a sound."""
    return [AudioContent(data=SILENCE, mime_type="audio/wav")]


def test_embedded_resource() -> list[EmbeddedResource]:
    """Answer with a resource."""
    return [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Answer with three kinds at once."""
    return [
        TextContent(text="Multiple content types test:"),
        ImageContent(data=PIXEL, mime_type="image/png"),
        embedded("test://mixed-content-resource", "application/json", '{"test": "data", "value": 123}'),
    ]


async def test_tool_with_logging(ctx: Ctx) -> str:
    """Tell the client what is going on."""
    for what in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(what)
    return "Tool with logging executed successfully"


async def test_logging_tool(ctx: Ctx) -> str:
    """Log something, which nobody may hear who did not ask for it."""
    await ctx.info("not asked for")
    return "logged"


async def test_tool_with_progress(ctx: Ctx) -> str:
    """Tell how far it got."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"Completed step {done} of 100")
    return "done"


async def test_error_handling() -> str:
    """Fail."""
    raise RuntimeError("This tool intentionally returns an error for testing")


async def test_trigger_tool_change(ctx: Ctx) -> str:
    """Say that the list of tools is another now."""
    await ctx.notify_tools_changed()
    return "told"


async def test_trigger_prompt_change(ctx: Ctx) -> str:
    """Say that the list of prompts is another now."""
    await ctx.notify_prompts_changed()
    return "told"


async def test_reconnection(ctx: Ctx) -> str:
    """End the stream in the middle of the call; without sessions there is none to come back to, so it stays."""
    await ctx.close_sse_stream()
    return "Reconnection test completed"


async def test_sampling(prompt: str, ctx: Ctx) -> str:
    """Ask the client's model, in the way of the handshake era."""
    message = SamplingMessage(role="user", content=TextContent(text=prompt))
    answer = await ctx.session.create_message(messages=[message], max_tokens=100)
    return f"LLM response: {getattr(answer.content, 'text', '')}"


class Response(BaseModel):
    """What a person is asked for."""

    response: str


class Defaults(BaseModel):
    """One of each simple type, with a default (SEP-1034)."""

    name: str = "John Doe"
    age: int = 30


async def test_elicitation(message: str, ctx: Ctx) -> str:
    """Ask the person, in the way of the handshake era."""
    return f"User response: {(await ctx.elicit(message, Response)).action}"


async def test_elicitation_sep1034_defaults(ctx: Ctx) -> str:
    """Ask with defaults."""
    return f"Elicitation completed: {(await ctx.elicit('Please fill in', Defaults)).action}"


async def test_elicitation_sep1330_enums(ctx: Ctx) -> str:
    """Ask for choices."""
    return f"Elicitation completed: {(await ctx.elicit('Please choose', Defaults)).action}"


def test_mirrored_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
) -> str:
    """Take an argument that stands in a header as well (SEP-2243)."""
    return region


def json_schema_2020_12_tool(name: str = "") -> str:
    """Have a schema with all that JSON Schema 2020-12 knows."""
    return name


TOOLS: Final[Sequence[Callable[..., object]]] = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_tool_with_logging,
    test_logging_tool,
    test_tool_with_progress,
    test_error_handling,
    test_trigger_tool_change,
    test_trigger_prompt_change,
    test_reconnection,
    test_sampling,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_mirrored_header,
    json_schema_2020_12_tool,
    *asking.TOOLS,
)


# -- the server --------------------------------------------------------------------------------------------------------


class Everything(StrongroomServer):
    """Ours, and the fixtures beside our tools. Its resources are the suite's in the place of ours."""

    speaking_tools = ("test_tool_with_logging",)

    def __init__(
        self,
        offers: Sequence[Offer],
        workbench: Callable[[], Workbench],
        settings: Settings,
        *,
        version: str,
        instructions: str,
    ) -> None:
        super().__init__(offers, workbench, settings, version=version, instructions=instructions, has_resources=False)
        for tool in TOOLS:
            self.add_tool(tool, structured_output=False)
        _add_resources(self)
        _add_prompts(self)
        _add_handlers(self)

    async def list_tools(self) -> list[ListedTool]:
        fixtures = {tool.name: tool for tool in await MCPServer.list_tools(self) if tool.name not in self._offers}
        strict = fixtures[json_schema_2020_12_tool.__name__]
        fixtures[strict.name] = strict.model_copy(update={"input_schema": SCHEMA_2020})
        return [*await super().list_tools(), *fixtures.values()]

    async def call_tool(
        self, name: str, arguments: dict[str, object], context: Context[Room, object] | None = None
    ) -> CallToolResult | InputRequiredResult:
        if name in {tool.__name__ for tool in TOOLS}:
            return await MCPServer.call_tool(self, name, arguments, context)
        return await super().call_tool(name, arguments, context)


def _add_resources(server: Everything) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        return base64.b64decode(PIXEL)

    @server.resource("test://watched-resource", mime_type="text/plain")
    def watched() -> str:
        return "Watched"

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _add_prompts(server: Everything) -> None:
    def said(*contents: TextContent | ImageContent | EmbeddedResource) -> list[UserMessage]:
        return [UserMessage(role="user", content=content) for content in contents]

    @server.prompt()
    def test_simple_prompt() -> list[UserMessage]:
        """A prompt without arguments."""
        return said(TextContent(text="This is a simple prompt for testing."))

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
        """A prompt with two arguments."""
        return said(TextContent(text=f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))

    @server.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
        """A prompt with a resource in it."""
        return said(
            embedded(resourceUri, "text/plain", "Embedded resource content for testing."),
            TextContent(text="Please process the embedded resource above."),
        )

    @server.prompt()
    def test_prompt_with_image() -> list[UserMessage]:
        """A prompt with an image in it."""
        return said(ImageContent(data=PIXEL, mime_type="image/png"), TextContent(text="Please analyze the image."))

    server.prompt()(asking.test_input_required_result_prompt)


def _add_handlers(server: Everything) -> None:
    """What the SDK's upper layer has no words for: the log's level, subscriptions of the handshake era, completion."""

    async def set_level(_: ServerRequestContext[Any], __: SetLevelRequestParams) -> EmptyResult:
        return EmptyResult()

    async def subscribe(_: ServerRequestContext[Any], __: SubscribeRequestParams) -> EmptyResult:
        return EmptyResult()

    async def unsubscribe(_: ServerRequestContext[Any], __: UnsubscribeRequestParams) -> EmptyResult:
        return EmptyResult()

    async def complete(*_: object) -> Completion:
        return Completion(values=[], total=0, has_more=False)

    server.completion()(complete)  # type: ignore[no-untyped-call]
    core = server._lowlevel_server
    core.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
    core.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
    core.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)
