"""What an operator sees: one JSON object a line on stdout, a console view on a terminal, stderr in stdio mode.

Events are `noun.verb_past` with ids and counts. Note text, titles of hits, query strings and secrets never come here.
Two fences stand behind that rule for what a library might say: exceptions are told by type and place, never in their own
words (a validation error quotes what it validated), and anything shaped like a token is blanked out.
"""

from __future__ import annotations

import logging
import re
import sys
import time
import traceback
from collections.abc import Callable, MutableMapping
from typing import Any, Final, TextIO

import structlog

_SECRET: Final = re.compile(r"\bsr[acrs]_[A-Za-z0-9_-]{20,}|(?i:bearer\s+)\S+")
_FRAMES: Final = 8
_QUIET_LIBRARIES: Final = (
    "mcp",
    "uvicorn",
    "uvicorn.error",
    "uvicorn.access",
    "apscheduler",
    "dulwich",
    "asyncio",
    "httpx",
    "httpx2",
    "httpcore2",
)

_TOLD_BY_US: Final = ("uvicorn.error",)
"""Its warnings are about what strangers send, a line each; `service.web.protocol` says it sparingly."""


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
        tell_exceptions_by_place,
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
        library.setLevel(max(number, logging.ERROR if name in _TOLD_BY_US else logging.WARNING))


def tell_exceptions_by_place(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Replace `exc_info` by what `places` says."""
    given = event.pop("exc_info", None)
    error = given if isinstance(given, BaseException) else given[1] if isinstance(given, tuple) else None
    if given is True:
        error = sys.exc_info()[1]
    if error is not None:
        event.update(places(error))
    return event


def places(error: BaseException) -> dict[str, str]:
    """An exception for the log: the type that began it and where it passed, without its words."""
    seen = {id(error)}
    while (cause := error.__cause__ or error.__context__) is not None and id(cause) not in seen:
        seen.add(id(cause))
        error = cause
    if isinstance(error, BaseExceptionGroup):
        return places(error.exceptions[0])
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    at = " > ".join(f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames)
    return {"error": type(error).__qualname__, "at": at}


class Sparingly:
    """Says the same thing at most once in a while, with how often it happened meanwhile.

    Args:
        log: where to.
        event: the event's name.
        every_s: how long (seconds) to be silent about a reason once it was told.
        also: told as often as the log, of how many times it was.
    """

    def __init__(
        self, log: Any, event: str, every_s: float = 60.0, also: Callable[[int], None] = lambda _times: None
    ) -> None:
        self._log, self._event, self._every_s, self._also = log, event, every_s, also
        self._untold: dict[str, tuple[float, int]] = {}

    def note(self, *, reason: str) -> None:
        """It happened again. `reason` is one of a few words of our own."""
        now = time.monotonic()
        silent_until, count = self._untold.get(reason, (0.0, 0))
        if now < silent_until:
            self._untold[reason] = (silent_until, count + 1)
            return
        self._untold[reason] = (now + self._every_s, 0)
        self._log.info(self._event, reason=reason, times=count + 1)
        self._also(count + 1)


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
