"""From a plain function to a tool: its title and hints, which group it is in, its schema made small.

`select` decides by the settings which tools there are at all; which of those a caller sees is decided per grant in
`server.py`. A tool's function stays synchronous; it is run in a worker thread here.
"""

from __future__ import annotations

import difflib
import functools
import json
import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from mcp.server.mcpserver.tools import Tool
from mcp_types import (
    CallToolResult,
    ListResourcesResult,
    ReadResourceResult,
    ResourceTemplate,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool
from pydantic import BaseModel

from service.errors import BadSettings
from service.guards import limits
from service.settings import Settings
from service.tools.context import Room
from service.tools.workers import Workers

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
_LONG_ANSWERS: Final = {"anthropic/maxResultSizeChars": limits.MAX_RESULT_CHARS}
"""Claude Code puts an answer of more than 50,000 characters into a file unless the tool says so (its documentation, MCP)."""

_NOTHING: Final[tuple[Json, ...]] = (None, "", [], {})
_NAMED_BY_CALLER: Final = frozenset(("properties", "$defs"))


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool.

    Args:
        fn: a plain `def`; its name, docstring and annotated parameters are what a model reads. One that returns `str`
            answers as text; one that returns a model from `shapes.py` answers as structured content with its schema.
        title: for people.
        toolset: one of `settings.kinds.TOOLSETS`.
        writes: it changes the vault: needs the scope vault:write, and is not offered in read-only mode.
        destructive: it may take away or replace what was there.
        idempotent: doing it again with the same arguments changes nothing more.
    """

    fn: Callable[..., object]
    title: str
    toolset: str
    writes: bool = False
    destructive: bool = False
    idempotent: bool = False

    @property
    def name(self) -> str:
        return self.fn.__name__

    @property
    def answers_text(self) -> bool:
        return typing.get_type_hints(self.fn)["return"] is str


@dataclass(frozen=True, slots=True)
class Offer:
    """What is told of a tool, and all that has to be known of it before it is called.

    Args:
        listed: what a client is told.
        toolset, writes: as in `ToolSpec`.
    """

    listed: ListedTool
    toolset: str
    writes: bool

    @property
    def name(self) -> str:
        return self.listed.name

    @staticmethod
    def of(spec: ToolSpec) -> Offer:
        """The offer of a tool that was imported."""
        tool = as_tool(spec, Workers())
        listed = ListedTool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=tool.parameters,
            output_schema=tool.output_schema,
            annotations=tool.annotations,
            _meta=_LONG_ANSWERS if spec.answers_text else None,
        )
        return Offer(listed, spec.toolset, spec.writes)


Named = TypeVar("Named", ToolSpec, Offer)


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """The vault's notes as resources. The functions are plain `def`, run in a worker thread.

    Args:
        templates: what `resources/templates/list` answers.
        page: one page of `resources/list`; takes the client's cursor (None: the first), which is text of our own
            making that a client may have damaged.
        read: `resources/read`; takes the URI as the client wrote it. An AppError becomes a JSON-RPC error.
    """

    templates: Sequence[ResourceTemplate]
    page: Callable[[Room, str | None], ListResourcesResult]
    read: Callable[[Room, str], ReadResourceResult]


def select(specs: Sequence[Named], settings: Settings) -> tuple[Named, ...]:
    """The tools that the settings leave: their toolset is on and they are not switched off by name.

    Raises:
        BadSettings: STRONGROOM_DISABLED_TOOLS holds a name that no tool has; names the nearest.
    """
    known = [spec.name for spec in specs]
    problems = [_unknown(name, known) for name in settings.disabled_tools if name not in known]
    if problems:
        raise BadSettings(problems)
    return tuple(
        spec for spec in specs if spec.toolset in settings.toolsets and spec.name not in settings.disabled_tools
    )


def as_tool(spec: ToolSpec, workers: Workers) -> Tool:
    """The SDK's form of one tool, with a small schema and its function run in a worker thread."""
    tool = Tool.from_function(
        _in_thread(spec, workers),
        title=spec.title,
        structured_output=not spec.answers_text,
        annotations=ToolAnnotations(  # the title stands beside them, and would be said twice
            read_only_hint=not spec.writes,
            destructive_hint=spec.destructive,
            idempotent_hint=spec.idempotent or not spec.writes,
            open_world_hint=False,
        ),
    )
    tool.description = "\n".join(line.strip() for line in tool.description.strip().splitlines())
    tool.parameters = {**_without_null(_small(tool.parameters)), "additionalProperties": False}
    if tool.fn_metadata.output_schema is not None:
        tool.fn_metadata.output_schema = _small(tool.fn_metadata.output_schema)
    return tool


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0)
    return f"STRONGROOM_DISABLED_TOOLS: there is no tool {name!r}: did you mean {near[0]}?"


def _in_thread(spec: ToolSpec, workers: Workers) -> Callable[..., Awaitable[object]]:
    fn = spec.fn

    @functools.wraps(fn)
    async def tool(**arguments: object) -> object:
        return await workers.run(lambda: _answer(fn(**arguments)), changes=spec.writes)

    return tool


def _answer(found: object) -> object:
    """A tool's answer as the wire has it. The SDK still checks it against its schema, but would write it out twice, and
    its text form with an indentation: half again as many tokens."""
    if not isinstance(found, BaseModel):
        return found
    structured = found.model_dump(mode="json", by_alias=True)
    text = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(text=text)], structured_content=structured)


def _small(schema: Mapping[str, Json]) -> dict[str, Json]:
    """A schema that says the same in fewer bytes: without the made-up titles, and without nothing as a default."""
    kept: dict[str, Json] = {}
    for key, value in schema.items():
        if key == "title" or (key == "default" and value in _NOTHING):
            continue
        if key in _NAMED_BY_CALLER and isinstance(value, dict):
            kept[key] = {name: _small(part) if isinstance(part, dict) else part for name, part in value.items()}
        elif isinstance(value, dict):
            kept[key] = _small(value)
        elif isinstance(value, list):
            kept[key] = [_small(part) if isinstance(part, dict) else part for part in value]
        else:
            kept[key] = value
    return kept


def _without_null(schema: Mapping[str, Json]) -> dict[str, Json]:
    """An input schema without "or null" for what may be left out (a null is still accepted). Not for an answer's
    schema: there a null is sent, and clients check it."""
    kept: dict[str, Json] = {}
    for key, value in schema.items():
        if key in _NAMED_BY_CALLER and isinstance(value, dict):
            kept[key] = {name: _without_null(part) if isinstance(part, dict) else part for name, part in value.items()}
        elif isinstance(value, dict):
            kept[key] = _without_null(value)
        else:
            kept[key] = value
    choices = kept.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices and len(choices) == 2:
        kept.pop("anyOf")
        only = next(choice for choice in choices if choice != {"type": "null"})
        kept = {**(only if isinstance(only, dict) else {}), **kept}
    return kept
