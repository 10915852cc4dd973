"""What an operator sees, and what nobody sees."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from service import logs

TOKEN = "srs_" + "Ab3-_" * 9
SENTENCE = "the butler did it in the pantry"


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    found = io.StringIO()
    logs.configure(found, log_format="json")
    yield found
    root.handlers = handlers
    root.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_ours_and_the_libraries_lines_are_json(stream: io.StringIO) -> None:
    """The issue: JSON lines on stdout."""
    structlog.get_logger().info("note.written", bytes=3)
    logging.getLogger("mcp.server").warning("said %s", "something")
    logging.getLogger("mcp.server").info("chatter")
    ours, theirs = lines(stream)
    assert (ours["event"], ours["bytes"], ours["level"]) == ("note.written", 3, "info")
    assert (theirs["event"], theirs["level"]) == ("said something", "warning")


def test_an_exception_is_told_by_type_and_place_and_not_in_its_words(stream: io.StringIO) -> None:
    """A validation error quotes what it validated: style.md, never note content."""

    def burst() -> None:
        raise KeyError(SENTENCE)

    try:
        try:
            burst()
        except KeyError as cause:
            raise RuntimeError(SENTENCE) from cause
    except RuntimeError:
        structlog.get_logger().exception("ours.failed")
        logging.getLogger("mcp").exception("theirs failed")
    for line in lines(stream):
        assert line["error"] == "KeyError"
        assert "test_logs.py" in line["at"]
        assert line["at"].endswith("burst")
    assert SENTENCE not in stream.getvalue()


def test_a_group_of_exceptions_is_told_by_its_first(stream: io.StringIO) -> None:
    try:
        raise ExceptionGroup(SENTENCE, [ValueError(SENTENCE), OSError()])
    except ExceptionGroup as group:
        structlog.get_logger().error("failed", exc_info=group)
    assert lines(stream)[0]["error"] == "ValueError"
    assert SENTENCE not in stream.getvalue()


def test_whatever_looks_like_a_token_is_blanked_out(stream: io.StringIO) -> None:
    """auth.md attack line 88."""
    structlog.get_logger().info("x", header=f"Bearer {TOKEN}", token=TOKEN, path=f"a/{TOKEN}/b")
    logging.getLogger("httpx").warning("GET with authorization: bearer %s", "anything-else")
    assert TOKEN not in stream.getvalue()
    assert "anything-else" not in stream.getvalue()
    assert lines(stream)[0]["path"] == "a/(redacted)/b"


def test_the_same_thing_is_said_once_in_a_while_with_how_often_it_happened(stream: io.StringIO) -> None:
    """A stranger that knocks a thousand times leaves one line."""
    refused = logs.Sparingly(structlog.get_logger(), "request.refused", every_s=0)
    quiet = logs.Sparingly(structlog.get_logger(), "request.refused", every_s=3600)
    for _ in range(3):
        refused.note(reason="a")
    for _ in range(1000):
        quiet.note(reason="a")
    quiet.note(reason="b")
    assert [(line["reason"], line["times"]) for line in lines(stream)] == [("a", 1)] * 3 + [("a", 1), ("b", 1)]
