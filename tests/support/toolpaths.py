"""Every place in the tools where a path goes in, found in the catalogue itself, and a client to send one there.

A parameter that takes text is taken for a path unless `NOT_PATHS` says otherwise, so a new tool is attacked as soon as it is
there. What else a call needs comes from the calls that the wire tests must have for every tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Any, Final

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from service.auth.model import Grant, acting_as, local
from service.tools import resources
from service.tools.arguments import FilePath, NewFilePath, NewPath
from service.tools.catalogue import SPECS
from service.tools.context import Room
from service.tools.register import as_tool
from service.tools.workers import Workers
from tests.support.calling import Caller, calling, text_of
from tests.wire.test_tools import CALLS, TASK

NOT_PATHS: Final = frozenset(
    {
        "query",
        "diff_note.from",
        "diff_note.to",
        "content",
        "text",
        "date",
        "since",
        "until",
        "at",
        "revision",
        "expected_hash",
        "sort_by",
        "in",
        "edits",
        "add",
        "remove",
        "mode",
        "link",
        "heading",
        "tag",
        "due_before",
        "due_after",
        "done_date",
        "new_date",
    }
)
ERA: Final = "era"
NOTES: Final = {
    f"{ERA}/new.md": "one\ntwo\nthree\n\n# Log\n",
    "old.md": "from before\n",
    f"{ERA}/tasks.md": TASK,
    f"{ERA}/later.md": TASK,
}
"""What the sample calls expect in the vault."""

BESIDES: Final[Mapping[str, Mapping[str, Any]]] = {
    "update_frontmatter": {"set": {"due": "2026-03-01"}},
    "update_tags": {"add": ["a"]},
    "write_note": {"mode": "append"},
}
"""What a call needs in order to change something, besides what it cannot do without."""

_ERROR: Final = re.compile(r"\A([A-Z_]+): ")
_IN_PLACE: Final = re.compile(r'(?:\A\[.*?\] |"error":")([A-Z_]+): ')

OWNER: Final = local(datetime(2026, 1, 1, tzinfo=UTC))


class Kind(Enum):
    """What a path there is meant to name."""

    NOTE = auto()
    WRITTEN = auto()
    NEW = auto()
    FOLDER = auto()
    FILE = auto()
    """A file of any type."""


@dataclass(frozen=True)
class Place:
    """One parameter of one tool."""

    tool: str
    parameter: str
    kind: Kind
    is_list: bool
    is_optional: bool
    others: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.tool}.{self.parameter}"

    def with_path(self, raw: str) -> dict[str, Any]:
        """The arguments of a call with this path in this place."""
        confirmation = f"confirm_{self.parameter}"
        confirmed = {confirmation: raw} if confirmation in self.others else {}
        return {**self.others, self.parameter: [raw] if self.is_list else raw, **confirmed}


def places() -> Sequence[Place]:
    """All of them, in the order of the catalogue."""
    return tuple(_places())


def _places() -> Iterator[Place]:
    new, of_any_type = (
        {path.__metadata__[0].description for path in kinds} for kinds in ((NewPath, NewFilePath), (FilePath,))
    )
    for spec in SPECS:
        schema = as_tool(spec, Workers()).parameters
        for name, about in schema["properties"].items():
            is_list = about.get("type") == "array" and about["items"].get("type") == "string"
            if (
                {name, f"{spec.name}.{name}"} & NOT_PATHS
                or name.startswith("confirm_")
                or "enum" in about
                or not (is_list or about.get("type") == "string")
            ):
                continue
            told = f"{name} {about.get('description', '')}".lower()
            if "folder" in told or "prefix" in name:
                kind = Kind.FOLDER
            elif about.get("description") in new and not (name == "path" and "expected_hash" in schema["properties"]):
                kind = Kind.NEW
            elif about.get("description") in of_any_type:
                kind = Kind.FILE
            else:
                kind = Kind.WRITTEN if spec.writes else Kind.NOTE
            required = schema.get("required", [])
            yield Place(spec.name, name, kind, is_list, name not in required, sample(spec.name, required))


def sample(tool: str, required: Sequence[str]) -> dict[str, Any]:
    """The arguments that a call of the tool cannot do without, and those without which it would change nothing."""
    arguments = next(arguments for name, arguments, _ in CALLS if name == tool)
    filled = json.loads(json.dumps(arguments).replace("{era}", ERA))
    return {**{name: filled[name] for name in required}, **BESIDES.get(tool, {})}


@dataclass(frozen=True)
class Said:
    """An answer: its whole text, and whether it is an error."""

    text: str
    is_error: bool

    @property
    def code(self) -> str:
        """The code of an error, also of one that a list reports in place; empty for success."""
        found = (_ERROR if self.is_error else _IN_PLACE).search(self.text)
        return found[1] if found else ""


class Desk:
    """Calls tools and reads resources under one grant, from a test that is no coroutine."""

    def __init__(self, portal: BlockingPortal, caller: Caller, grant: Grant) -> None:
        self._portal, self._caller, self._grant = portal, caller, grant

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Said:
        async def ask() -> Said:
            with acting_as(self._grant):
                result = await self._caller.call(tool, **arguments)
            return Said(text_of(result), bool(result.is_error))

        return self._portal.call(ask)

    def resource(self, uri: str) -> Said:
        async def ask() -> Said:
            try:
                with acting_as(self._grant):
                    result = await self._caller.client.read_resource(uri)
            except MCPError as error:
                return Said(str(error), True)
            [contents] = result.contents
            return Said(contents.text if isinstance(contents, TextResourceContents) else contents.blob, False)

        return self._portal.call(ask)

    def resources(self) -> Sequence[str]:
        """Every page of `resources/list`, as JSON."""

        async def ask() -> Sequence[str]:
            pages, cursor = [], None
            with acting_as(self._grant):
                while True:
                    page = await self._caller.client.list_resources(cursor=cursor)
                    pages.append(page.model_dump_json())
                    if (cursor := page.next_cursor) is None:
                        return pages

        return self._portal.call(ask)


@contextmanager
def desk_over(room: Room, grant: Grant = OWNER) -> Iterator[Desk]:
    """A client of all tools and resources over `room`; by default it may do everything."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(calling(room, SPECS, resources.SPEC, grant)) as caller,
    ):
        yield Desk(portal, caller, grant)
