"""Parameters that several tools share, described once and the same everywhere."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Annotated, Final, TypeAlias

from pydantic import BeforeValidator, Field, JsonValue, WithJsonSchema

from service.guards import limits

_JSON_MARKS: Final = ("[", "{")


def an_object(value: object) -> object:
    """An object, also as the JSON text that some clients send, without the nulls that some send for what they leave out.

    What is none is left for the schema to refuse.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    return {key: part for key, part in value.items() if part is not None} if isinstance(value, dict) else value


def properties(value: object) -> object:
    """Properties by name, also as JSON text. A null is a value here: a property without one.

    What is none is left for the schema to refuse.
    """
    return _parsed(value)


def names(value: object) -> object:
    """A list of texts, also as JSON text; one text by itself is a list of one, unless it is JSON that went wrong."""
    parsed = _parsed(value)
    return [parsed] if isinstance(parsed, str) and parsed and not parsed.startswith(_JSON_MARKS) else parsed


def _parsed(value: object) -> object:
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


NotePath: TypeAlias = Annotated[str, Field(description="E.g. 'Projects/Garden.md'.")]
NewPath: TypeAlias = Annotated[str, Field(description="Vault-relative, ending in .md, .markdown or .txt.")]
FilePath: TypeAlias = Annotated[str, Field(description="Vault-relative, e.g. 'Files/plan.pdf'.")]
NewFilePath: TypeAlias = Annotated[str, Field(description="Vault-relative; the type stays.")]
FolderPath: TypeAlias = Annotated[str, Field(description="A folder, vault-relative; empty for the whole vault.")]
ExpectedHash: TypeAlias = Annotated[str, Field(description="Version you last read (4-64 hex), else CONFLICT.")]
Content: TypeAlias = Annotated[str, Field(json_schema_extra={"maxLength": limits.MAX_WRITE_CHARS})]
"""Text of a write. The bound is told here and kept by the vault, which says TOO_LARGE."""

IncludeLowTrust: TypeAlias = Annotated[bool, Field(description="Also notes that come from outside.")]
Offset: TypeAlias = Annotated[int, Field(ge=0)]
FrontMatter: TypeAlias = Annotated[
    dict[str, JsonValue],
    BeforeValidator(properties),
    WithJsonSchema({"type": "object", "description": "Properties, e.g. {'due': '2026-03-01'}."}),
]
NO_PROPERTIES: Final[dict[str, JsonValue]] = {}
NO_NAMES: Final[list[str]] = []
