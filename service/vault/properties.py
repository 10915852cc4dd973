"""A note's properties: the values that its front matter holds, as the note is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.guards import invisible
from service.guards.paths import VaultPath
from service.vault import frontmatter, notes
from service.vault.model import Vault
from service.vault.parts.yaml import Value, parse

__all__ = ["Properties", "Value", "parse", "read", "shown"]


@dataclass(frozen=True, slots=True)
class Properties:
    """A note's properties, in their order. `path` is spelled as on disk; `version` is that of the whole note."""

    path: VaultPath
    version: str
    values: Mapping[str, Value]


def read(vault: Vault, path: VaultPath) -> Properties:
    """Read a note's properties, as the note is shown: what is invisible in its text is in no value.

    Raises:
        InvalidFrontmatter: as `parse`.
        NoteNotFound, PathRefused, TooLarge: as `notes.read`.
    """
    note = notes.read(vault, path)
    values = parse(frontmatter.inner(note.view.text), first_line=2)
    return Properties(note.path, note.version, {shown(key): _seen(value) for key, value in values.items()})


def _seen(value: Value) -> Value:
    """A value without what an escape in it made invisible. As deep as `limits.MAX_PROPERTY_DEPTH` at most."""
    match value:
        case str():
            return shown(value)
        case list():
            return [_seen(item) for item in value]
        case dict():
            return {shown(key): _seen(item) for key, item in value.items()}
        case _:
            return value


def shown(words: str) -> str:
    """A text of a value, or a name, without what nobody sees."""
    kept, at = [], 0
    for start, end in invisible.spans(words):
        kept.append(words[at:start])
        at = end
    return "".join([*kept, words[at:]])
