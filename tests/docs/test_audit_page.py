"""docs/how-to/auth-log.md explains every event that the code notes, and none that it does not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from service.auth.audit import OWNERS
from tests.support.reference import ROOT

PAGE = (ROOT / "docs" / "how-to" / "auth-log.md").read_text(encoding="utf-8")
_NOTES = frozenset(("note", "note_of_stranger"))


def explained() -> set[str]:
    """The events in the first column of the page's table."""
    cells = re.findall(r"^\| (`[^|]+`) \|", PAGE, re.MULTILINE)
    return {event for cell in cells for event in re.findall(r"`([a-z_]+)`", cell)}


def strings() -> Iterator[tuple[str, bool]]:
    """Every string in the code, and whether an audit log is told it as an event."""
    for room in ("service", "ops"):
        for path in (ROOT / room).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            events = {id(node.args[0]) for node in ast.walk(tree) if _is_noting(node)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value, id(node) in events


def _is_noting(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _NOTES
        and ast.unparse(node.func.value).endswith("audit")
        and bool(node.args)
    )


def test_every_event_is_explained() -> None:
    """auth.md 7.9: the owner can read what happened."""
    noted = {text for text, is_event in strings() if is_event}
    assert len(noted) > 15, "the events are no longer found in the code"
    assert (noted | OWNERS) - explained() == set()


def test_no_event_is_explained_that_cannot_happen() -> None:
    assert explained() - {text for text, _ in strings()} == set()
