"""Lists and objects as the JSON text that some clients send, to every parameter of every tool that takes one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from service.tools.catalogue import SPECS
from service.tools.register import as_tool
from service.tools.workers import Workers
from tests.support.calling import calling
from tests.support.desk import Desk
from tests.support.toolpaths import NOTES, sample
from tests.wire.test_tools import CALLS

pytestmark = pytest.mark.anyio

VALUES: Mapping[str, Any] = {
    "exclude_paths": ["old.md"],
    "paths": ["old.md"],
    "set": {"a": 1},
    "frontmatter": {"a": 1},
    "remove": ["b"],
    "add": ["c"],
}
"""What is given where no sample call gives it."""
MAY_BE_ONE = {("update_frontmatter", "remove"), ("update_tags", "add"), ("update_tags", "remove")}
"""Lists of names, where one name by itself is understood as well."""


def places() -> Iterator[tuple[str, str, dict[str, Any], Any]]:
    """Each tool and parameter that takes a list or an object, what else a call needs, and a good value."""
    for spec in SPECS:
        schema = as_tool(spec, Workers()).parameters
        for name, about in schema["properties"].items():
            if about.get("type") not in ("array", "object"):
                continue
            given = [
                json.loads(json.dumps(call).replace("{era}", "era")) for tool, call, _ in CALLS if tool == spec.name
            ]
            value = next((call[name] for call in given if name in call), VALUES.get(name))
            assert value is not None, f"VALUES needs something for {spec.name}.{name}"
            others = sample(spec.name, schema.get("required", []))
            yield spec.name, name, others, json.loads(value) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("tool", "name", "others", "value"), list(places()), ids=lambda part: part if isinstance(part, str) else ""
)
async def test_json_text_means_what_it_says(
    desk: Desk, tool: str, name: str, others: dict[str, Any], value: Any
) -> None:
    """Complaint 55: arrays and objects arrive as JSON strings; accepted, and malformed ones refused clearly."""
    desk.put(NOTES)
    async with calling(desk.room, SPECS) as caller:
        for wrong in ("[", "{", "17", *(() if (tool, name) in MAY_BE_ONE else ("nonsense",))):
            said = await caller.refusal(tool, **{**others, name: wrong})
            assert said.startswith("INVALID_ARGUMENT: "), said
            assert name in said
            assert "dictionary" not in said, "that is a word of Python's, which no client knows"
        before = {path: path.read_bytes() for path in desk.folder.rglob("*") if path.is_file()}
        assert {str(path.relative_to(desk.folder)) for path in before} == NOTES.keys()
        said = await caller.call(tool, **{**others, name: json.dumps(value)})
        assert "INVALID_ARGUMENT" not in said.model_dump_json()


async def test_an_edit_that_is_no_object_is_refused_in_words_that_every_client_knows(desk: Desk) -> None:
    """Seen by a new user: "should be a valid dictionary or instance of EditAsked"."""
    desk.put(NOTES)
    async with calling(desk.room, SPECS) as caller:
        said = await caller.refusal("edit_note", path="old.md", edits=["x"])
    assert said == "INVALID_ARGUMENT: edits.0: must be an object. Nothing was done."
