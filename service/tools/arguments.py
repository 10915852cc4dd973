"""Parameters that several tools share, described once and the same everywhere."""

from __future__ import annotations

import json
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from service.guards import limits


def _or_empty(value: object) -> object:
    """Some clients send null for what they leave out."""
    return "" if value is None else value


def from_json_text(value: object) -> object:
    """An object that a client sent as JSON text; what is no such text is left for the schema to refuse."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


Text: TypeAlias = Annotated[str, BeforeValidator(_or_empty)]
"""An optional string; empty when it is left out."""

NotePath: TypeAlias = Annotated[str, Field(description="Vault-relative, e.g. 'Projects/Garden.md'.")]
NewPath: TypeAlias = Annotated[str, Field(description="Vault-relative, ending in .md, .markdown or .txt.")]
FolderPath: TypeAlias = Annotated[Text, Field(description="Vault-relative; empty for the whole vault.")]
ExpectedHash: TypeAlias = Annotated[
    Text, Field(description="Version from your last read (4-64 hex); refuses with CONFLICT if the note has changed.")
]
Content: TypeAlias = Annotated[str, Field(json_schema_extra={"maxLength": limits.MAX_WRITE_CHARS})]
"""Text of a write. The bound is told here and kept by the vault, which says TOO_LARGE."""

Offset: TypeAlias = Annotated[int, Field(ge=0)]
