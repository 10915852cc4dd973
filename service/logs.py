"""What an operator sees: one JSON object a line on stdout, a console view on a terminal, stderr in stdio mode.

Events are `noun.verb_past` with ids and counts. Note text, titles of hits, query strings and secrets never come here;
the redactor is the second fence, for what a library might say.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, Final, TextIO

import structlog

_SECRET: Final = re.compile(r"\bsr[acrs]_[A-Za-z0-9_-]{20,}|(?i:bearer\s+)\S+")
_QUIET_LIBRARIES: Final = (
    "mcp",
    "uvicorn",
    "uvicorn.error",
    "uvicorn.access",
    "apscheduler",
    "dulwich",
    "asyncio",
    "httpx",
)


def configure(stream: TextIO, *, level: str = "info", log_format: str = "auto") -> None:
    """Send all logging, ours and the libraries', to `stream`.

    Args:
        stream: stdout for `serve`, stderr for `stdio` and the commands.
        level: debug, info, warning or error.
        log_format: json, console, or auto (console when `stream` is a terminal).
    """
    is_console = log_format == "console" or (log_format == "auto" and stream.isatty())
    last: Any = structlog.dev.ConsoleRenderer() if is_console else structlog.processors.JSONRenderer(ensure_ascii=False)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        structlog.processors.format_exc_info,
        redact,
    ]
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*shared, last],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last], foreign_pre_chain=shared
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(number, logging.WARNING))
    for name in _QUIET_LIBRARIES:
        library = logging.getLogger(name)
        library.handlers, library.propagate = [], True
        library.setLevel(max(number, logging.WARNING))


def redact(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Blank out anything shaped like one of our tokens or a bearer header."""
    for key, value in event.items():
        if isinstance(value, str) and _SECRET.search(value):
            event[key] = _SECRET.sub("(redacted)", value)
    return event


def to_stdout() -> TextIO:
    """The stream of `serve`, written out line by line."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # always a TextIOWrapper when we run
    return sys.stdout
