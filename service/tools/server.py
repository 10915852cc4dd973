"""The one MCP server: the tools each caller may see, the one line a call leaves in the log, and how errors are told.

The same server answers over HTTP and over stdio, in both protocol eras. This is the only place where an `AppError`
becomes what a model reads (`CODE: sentence`), and where anything else is logged and hidden.
"""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools.tool_manager import ToolManager
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
)
from mcp_types import Tool as ListedTool
from pydantic import ValidationError

from service.auth.model import Grant, acting
from service.errors import AppError, BadArgument, Forbidden, NotFound, ReadOnly
from service.logs import places
from service.settings import Settings
from service.tools.context import Room, Rooms, sentence
from service.tools.register import Offer, ResourceSpec, ToolSpec, as_tool, select
from service.tools.workers import Workers

LIST_TTL_MS: Final = 60_000
"""How long a client may keep a list of tools; it never changes while we run, save by another grant."""

_MAX_NAME_CHARS: Final = 60
_BETTER: Final = {
    "list_type": "must be a list, or the JSON text of one",
    "dict_type": "must be an object, or the JSON text of one",
    "model_type": "must be an object",
    "missing": "is missing",
    "extra_forbidden": "is no field here",
    "string_unicode": "holds half of a surrogate pair; send whole characters",
}
"""Words for what pydantic says in its own terms."""

_log = structlog.get_logger()
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Workbench:
    """What calls are answered with: the rooms, the tools (each of those that are offered) and the resources, if any."""

    room: Room
    specs: Sequence[ToolSpec]
    resources: ResourceSpec | None

    def spec(self, name: str) -> ToolSpec:
        """A tool by its name, which is one of theirs."""
        return next(spec for spec in self.specs if spec.name == name)


class StrongroomServer(MCPServer[Rooms]):
    """The SDK's server, with permissions.

    Args:
        offers: the tools there are. Lists are answered from them alone.
        workbench: what calls are answered with. The first call asks for it, in a worker thread, and again if it raised.
        has_resources: whether there are any.
    """

    speaking_tools: Sequence[str] = ()
    """Those that say something before they answer (log lines, say). None of ours does: they are plain functions."""

    def __init__(
        self,
        offers: Sequence[Offer],
        workbench: Callable[[], Workbench],
        settings: Settings,
        *,
        version: str,
        instructions: str,
        has_resources: bool = True,
    ) -> None:
        rooms = Rooms(lambda: workbench().room)

        @asynccontextmanager
        async def lend_rooms(_: MCPServer[Rooms]) -> AsyncIterator[Rooms]:
            yield rooms

        self._offers: Mapping[str, Offer] = {offer.name: offer for offer in offers}
        self._workbench = workbench
        self._settings = settings
        self._workers = Workers()
        super().__init__(
            "strongroom",
            title="Strongroom",
            instructions=instructions,
            version=version,
            lifespan=lend_rooms,
            cache_hints={"tools/list": CacheHint(LIST_TTL_MS, "private")},
        )
        self._parameters: Mapping[str, Sequence[str]] = {
            offer.name: tuple(offer.listed.input_schema.get("properties", {})) for offer in offers
        }
        if has_resources:
            self._serve_resources()

    @property
    def tool_names(self) -> Sequence[str]:
        """Every tool there is, in the order clients see."""
        return tuple(self._offers)

    async def list_tools(self) -> list[ListedTool]:
        """The tools that the present grant may use, in their registered order."""
        grant = acting()
        return [offer.listed for offer in self._offers.values() if self._refusal(offer, grant) is None]

    async def call_tool(
        self, name: str, arguments: dict[str, object], context: Context[Rooms, object] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool under the present grant; leaves one line in the log."""
        started, outcome = time.perf_counter(), "CANCELLED"
        offer = self._offers.get(name)
        try:
            self._check(name, offer, arguments)
            await self._lay_out(name)
            given = {key: value for key, value in arguments.items() if value is not None}  # null: left out
            result = await super().call_tool(name, given, context)
            outcome = "ok"
            return result
        except MCPError:
            outcome = "PROTOCOL"
            raise
        except Exception as error:  # noqa: BLE001  # the boundary: whatever it is, the model gets a sentence
            outcome, sentence = told(error)
            if outcome == "INTERNAL":
                _log.error("tool.crashed", tool=offer.name if offer else "(unknown)", **places(error))
            return CallToolResult(content=[TextContent(text=f"{outcome}: {sentence}")], is_error=True)
        finally:
            _log.info(
                "tool.called",
                tool=offer.name if offer else "(unknown)",  # what the caller wrote might be anything
                outcome=outcome,
                ms=_ms_since(started),
                grant=_grant_id(),
            )

    async def get_prompt(
        self, name: str, arguments: dict[str, object] | None = None, context: Context[Rooms, object] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """As the SDK, whose answer for a prompt that is not there would be an internal error, and an ERROR in the log."""
        if name not in {prompt.name for prompt in await self.list_prompts()}:
            raise MCPError(code=INVALID_PARAMS, message="NOT_FOUND: there is no prompt of that name; use the tools.")
        return await super().get_prompt(name, arguments, context)

    async def serve_streams(
        self,
        read_stream: MemoryObjectReceiveStream[SessionMessage | Exception],
        write_stream: MemoryObjectSendStream[SessionMessage],
    ) -> None:
        """Serve one session, in the era its client opens with, until its messages end. Closes both streams."""
        core = self._lowlevel_server
        await core.run(read_stream, write_stream, core.create_initialization_options())

    async def _lay_out(self, name: str) -> None:
        """Have the SDK's form of a tool ready: its schemas are built when it is first called."""
        if self._tool_manager.get_tool(name) is None:
            tool = await self._workers.run(lambda: as_tool(self._workbench().spec(name), self._workers))
            if self._tool_manager.get_tool(name) is None:
                self._tool_manager = ToolManager(tools=[*self._tool_manager.list_tools(), tool])

    def _tool_input_schema(self, name: str) -> dict[str, object] | None:
        """The SDK asks before a call for what a tool takes (its `Mcp-Param-*` headers are held against that). Of ours it is
        known before the tool is laid out; any other was added to the SDK's server, which knows it."""
        offer = self._offers.get(name)
        return super()._tool_input_schema(name) if offer is None else offer.listed.input_schema

    def _serve_resources(self) -> None:
        # MCPServer's own resources are a fixed list without pages; the protocol core below it takes handlers.
        async def templates(_: ServerRequestContext[Rooms], __: PaginatedRequestParams) -> ListResourceTemplatesResult:
            return await self._resource(
                "templates", lambda: ListResourceTemplatesResult(resource_templates=list(self._resources().templates))
            )

        async def page(ctx: ServerRequestContext[Rooms], params: PaginatedRequestParams) -> ListResourcesResult:
            return await self._resource(
                "listed", lambda: self._resources().page(ctx.lifespan_context.of(acting()), params.cursor)
            )

        async def read(ctx: ServerRequestContext[Rooms], params: ReadResourceRequestParams) -> ReadResourceResult:
            return await self._resource(
                "read", lambda: self._resources().read(ctx.lifespan_context.of(acting()), params.uri)
            )

        core = self._lowlevel_server
        core.add_request_handler("resources/templates/list", PaginatedRequestParams, templates)
        core.add_request_handler("resources/list", PaginatedRequestParams, page)
        core.add_request_handler("resources/read", ReadResourceRequestParams, read)

    async def _resource(self, what: str, work: Callable[[], T]) -> T:
        started, outcome = time.perf_counter(), "CANCELLED"
        try:
            acting()
            result = await self._workers.run(work)
            outcome = "ok"
        except Exception as error:
            outcome, sentence = told(error)
            if outcome == "INTERNAL":
                _log.error("resource.crashed", **places(error))
            code = INTERNAL_ERROR if outcome in ("INTERNAL", "UNAVAILABLE", "BUSY") else INVALID_PARAMS
            raise MCPError(code=code, message=f"{outcome}: {sentence}") from error
        finally:
            _log.info(f"resource.{what}", outcome=outcome, ms=_ms_since(started), grant=_grant_id())
        return result

    def _resources(self) -> ResourceSpec:
        found = self._workbench().resources
        if found is None:
            raise NotFound("there are no resources here; use the tools.")
        return found

    def _check(self, name: str, spec: Offer | None, arguments: Mapping[str, object]) -> None:
        grant = acting()
        if spec is None:
            raise NotFound(f"there is no tool of that name.{_nearest(name, self._offers)} List them with tools/list.")
        if (refusal := self._refusal(spec, grant)) is not None:
            raise refusal
        known = self._parameters[spec.name]
        for given in arguments:
            if given not in known:
                raise BadArgument(
                    f"{spec.name} has no parameter {_plain(given, 'of that name')}.{_nearest(given, known)} "
                    f"It takes: {', '.join(known) or 'none'}. Nothing was done."
                )

    def _refusal(self, spec: Offer, grant: Grant) -> AppError | None:
        if spec.writes and self._settings.is_read_only:
            return ReadOnly("this Strongroom is read-only (STRONGROOM_READ_ONLY); the owner can change that.")
        if spec.writes and not grant.may_write:
            who = "this session was started read-only" if grant.kind == "local" else "this token may only read"
            return Forbidden(f"{who}; ask the owner for one that may write.")
        return None


def build(
    room: Room,
    specs: Sequence[ToolSpec],
    resources: ResourceSpec | None = None,
    *,
    version: str,
    instructions: str = "",
) -> StrongroomServer:
    """The server of rooms and tools that are there already, with the tools that the settings leave.

    Raises:
        BadSettings: as `register.select`.
    """
    chosen = select(specs, room.settings)
    bench = Workbench(room, chosen, resources)
    return StrongroomServer(
        [Offer.of(spec) for spec in chosen],
        lambda: bench,
        room.settings,
        version=version,
        instructions=instructions,
        has_resources=resources is not None,
    )


def told(error: BaseException) -> tuple[str, str]:
    """An error's code and the sentence for whoever asked. What is nobody's business becomes INTERNAL."""
    cause = error.__cause__ if isinstance(error, ToolError) else error
    if isinstance(cause, AppError):
        return cause.code, sentence(cause)
    if isinstance(cause, ValidationError):
        return "INVALID_ARGUMENT", _problems(cause)
    return (
        "INTERNAL",
        "something went wrong inside Strongroom and was logged; nothing more is known here. Try again, or tell the owner.",
    )


def _problems(error: ValidationError) -> str:
    told_of = []
    for problem in error.errors(include_url=False, include_context=False, include_input=False)[:5]:
        name = ".".join(_plain(str(part), "(a name of yours)") for part in problem["loc"]) or "the arguments"
        message = _BETTER.get(problem["type"]) or problem["msg"]
        told_of.append(f"{name}: {message[:1].lower()}{message[1:]}")
    return "; ".join(told_of) + ". Nothing was done."


def _plain(name: str, otherwise: str) -> str:
    """A name that the caller may have made up, where it is short and plain enough to be said back."""
    return name if len(name) <= _MAX_NAME_CHARS and re.fullmatch(r"[\w.-]+", name) else otherwise


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name[:100], sorted(known), n=1, cutoff=0.5)
    return f" Did you mean {near[0]}?" if near else ""


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)


def _grant_id() -> str:
    try:
        return acting().id
    except Forbidden:
        return "(none)"
