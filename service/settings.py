"""Every setting, in one table: name, type, default, whether it is a secret, and one line of words.

`docs/reference/settings.md` and `container/strongroom.env.example` are made from this table, and a test compares them.
Values come from the environment; each may come from a file named by `<NAME>_FILE` instead (one trailing line break is
dropped). An unknown `STRONGROOM_*` name is refused with the nearest known one, and all problems are told at once.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from service.errors import BadSettings

PREFIX: Final = "STRONGROOM_"
TOOLSETS: Final = ("notes", "daily", "history")
MIN_ORIGIN_SECRET_CHARS: Final = 32

Value = str | int | float | bool | Path | ZoneInfo | tuple[str, ...] | None
"""What a setting can hold once it is read."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table. `parse` raises ValueError with the sentence to show."""

    name: str
    field: str
    kind: str
    default: str
    doc: str
    parse: Callable[[str], Value]
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one run, read and checked. Durations are seconds."""

    vault: Path
    state: Path
    host: str
    port: int
    public_url: str | None
    allowed_hosts: tuple[str, ...]
    origin_secrets: tuple[str, ...]
    toolsets: tuple[str, ...]
    disabled_tools: tuple[str, ...]
    is_read_only: bool
    commit_every_s: float
    commit_quiet_s: float
    commit_max_wait_s: float
    commit_message: str
    author: str
    history_dir: str
    max_file_bytes: int
    log_level: str
    log_format: str
    zone: ZoneInfo


def load(environ: Mapping[str, str]) -> Settings:
    """Read all settings from `environ`.

    Raises:
        BadSettings: naming every problem found, not just the first.
    """
    problems: list[str] = []
    values: dict[str, Value] = {}
    for row in TABLE:
        raw = _raw_value(row, environ, problems)
        try:
            values[row.field] = row.parse(raw)
        except ValueError as problem:
            shown = "" if row.is_secret else f" (it is {raw!r})"
            problems.append(f"{row.name}{shown}: {problem}")
    problems += _unknown_names(environ)
    problems += _user_ids(environ)
    if problems:
        raise BadSettings(problems)
    settings = Settings(**values)  # type: ignore[arg-type]  # the table's fields and types are checked by a test
    _check_together(settings)
    return settings


def redacted(settings: Settings) -> dict[str, str]:
    """Each setting's name and its value as text, secrets as `(set)` or `(not set)`."""
    shown: dict[str, str] = {}
    for row in TABLE:
        value = getattr(settings, row.field)
        if row.is_secret:
            shown[row.name] = "(set)" if value else "(not set)"
        elif isinstance(value, tuple):
            shown[row.name] = ",".join(value)
        elif isinstance(value, bool):
            shown[row.name] = "1" if value else "0"
        elif isinstance(value, float):
            shown[row.name] = f"{value:g}s"
        else:
            shown[row.name] = "" if value is None else str(value)
    return shown


def _raw_value(row: Setting, environ: Mapping[str, str], problems: list[str]) -> str:
    plain, twin = environ.get(row.name), environ.get(f"{row.name}_FILE")
    if plain is not None and twin is not None:
        problems.append(f"{row.name} and {row.name}_FILE are both set: keep one of them")
        return row.default
    if twin is None:
        return row.default if plain is None or plain == "" else plain
    try:
        text = Path(twin).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        problems.append(f"{row.name}_FILE: cannot read {twin!r} ({reason}): check the path and its permissions")
        return row.default
    return text.removesuffix("\n").removesuffix("\r")


def _unknown_names(environ: Mapping[str, str]) -> list[str]:
    known = {row.name for row in TABLE}
    problems = []
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in known or name.removesuffix("_FILE") in known:
            continue
        if _is_service_link(name, environ[name]):
            problems.append(
                f"{name}={environ[name]!r} was injected for a service named strongroom: "
                "set enableServiceLinks: false on the pod, or name the service otherwise"
            )
            continue
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
        hint = f": did you mean {near[0]}?" if near else ": see docs/reference/settings.md for the names there are"
        problems.append(f"{name} is not a setting{hint}")
    return problems


def _is_service_link(name: str, value: str) -> bool:
    return (
        value.startswith(("tcp://", "udp://")) or re.fullmatch(r"STRONGROOM_(SERVICE_.*|PORT_\d+_.*)", name) is not None
    )


def _user_ids(environ: Mapping[str, str]) -> list[str]:
    return [
        f"{name} is not honoured: run the container as the owner of the notes instead (--user UID:GID, or user: in compose)"
        for name in ("PUID", "PGID")
        if name in environ
    ]


def _check_together(settings: Settings) -> None:
    problems = []
    vault, state = settings.vault.resolve(), settings.state.resolve()
    if state == vault or state.is_relative_to(vault):
        problems.append(
            "STRONGROOM_STATE lies inside STRONGROOM_VAULT: a vault is synced and shared, state must not be"
        )
    if vault.is_relative_to(state):
        problems.append("STRONGROOM_VAULT lies inside STRONGROOM_STATE: keep the notes in a folder of their own")
    if problems:
        raise BadSettings(problems)


# -- how each kind of value is read -----------------------------------------------------------------------------------


def _path(raw: str) -> Path:
    path = Path(raw).expanduser()
    if not path.is_absolute():
        raise ValueError("give an absolute path")
    return path


def _text(raw: str) -> str:
    return raw


def _host(raw: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9.:_-]+", raw):
        raise ValueError("give an address to listen on, such as 127.0.0.1 or 0.0.0.0")
    return raw


def _port(raw: str) -> int:
    if raw.startswith("tcp://"):
        raise ValueError(
            "this was injected for a Kubernetes service named strongroom: set enableServiceLinks: false, or set the port yourself"
        )
    if not raw.isdigit() or not 0 <= int(raw) <= 65535:
        raise ValueError("give a port from 1 to 65535")
    return int(raw)


def _public_url(raw: str) -> str | None:
    if not raw:
        return None
    parts = urlsplit(raw)
    is_plain = not (parts.query or parts.fragment or parts.username or parts.password) and parts.path in ("", "/")
    if parts.scheme not in ("https", "http") or not parts.hostname or not is_plain:
        raise ValueError("give the address clients use, such as https://notes.example.org, without a path")
    return f"{parts.scheme}://{parts.netloc}".lower()


def _words(raw: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in raw.split(",") if word.strip())


def _toolsets(raw: str) -> tuple[str, ...]:
    words = _words(raw)
    for word in words:
        if word not in TOOLSETS:
            near = difflib.get_close_matches(word, TOOLSETS, n=1, cutoff=0)
            raise ValueError(f"there is no toolset {word!r}: did you mean {near[0]}? There are: {', '.join(TOOLSETS)}")
    return words


def _secrets(raw: str) -> tuple[str, ...]:
    secrets = _words(raw)
    if len(secrets) > 2:
        raise ValueError("give one secret, or two separated by a comma while changing from one to the other")
    if any(len(secret) < MIN_ORIGIN_SECRET_CHARS or not secret.isascii() for secret in secrets):
        raise ValueError(
            f"use at least {MIN_ORIGIN_SECRET_CHARS} random ASCII characters, for example from: openssl rand -hex 32"
        )
    return secrets


def _flag(raw: str) -> bool:
    word = raw.strip().lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off", ""):
        return False
    raise ValueError("give 1 or 0")


def _duration(raw: str) -> float:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|m|h|d)?\s*", raw)
    if not match:
        raise ValueError("give seconds or a time such as 90s, 30m or 2h; 0 switches it off")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[match[2] or "s"]


def _size(raw: str) -> int:
    match = re.fullmatch(r"\s*(\d+)\s*(KB|MB|GB|K|M|G)?\s*", raw, re.IGNORECASE)
    if not match:
        raise ValueError("give bytes or a size such as 95MB")
    return int(match[1]) * {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3}[(match[2] or "")[:1].upper()]


def _author(raw: str) -> str:
    if not re.fullmatch(r"[^<>\n\0]+ <[^<>\n\0]*>", raw):
        raise ValueError("give a name and an address, such as Ada <ada@example.org>")
    return raw


def _message(raw: str) -> str:
    if not raw.strip() or "\n" in raw:
        raise ValueError("give one line; {summary}, {reason}, {time} and {host} are filled in")
    unknown = set(re.findall(r"{([^}]*)}", raw)) - {"summary", "reason", "time", "host"}
    if unknown:
        raise ValueError("only {summary}, {reason}, {time} and {host} are filled in")
    return raw


def _history_dir(raw: str) -> str:
    if raw not in ("", ".git") and not Path(raw).is_absolute():
        raise ValueError(
            "leave it empty (history in the state folder), or name .git for the vault's own, or an absolute path"
        )
    return raw


def _one_of(*words: str) -> Callable[[str], str]:
    def parse(raw: str) -> str:
        if raw.lower() not in words:
            raise ValueError(f"give one of: {', '.join(words)}")
        return raw.lower()

    return parse


def _zone(raw: str) -> ZoneInfo:
    try:
        return ZoneInfo(raw.removeprefix(":"))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            "give a zone from the tz database, such as Europe/Berlin (and see that tzdata is installed)"
        ) from None


TABLE: Final[Sequence[Setting]] = (
    Setting("STRONGROOM_VAULT", "vault", "path", "/vault", "The folder of notes.", _path),
    Setting(
        "STRONGROOM_STATE",
        "state",
        "path",
        "/state",
        "Where tokens, history and locks live; never inside the vault.",
        _path,
    ),
    Setting("STRONGROOM_HOST", "host", "address", "127.0.0.1", "Address to listen on; the image sets 0.0.0.0.", _host),
    Setting("STRONGROOM_PORT", "port", "port", "8484", "Port to listen on.", _port),
    Setting(
        "STRONGROOM_PUBLIC_URL",
        "public_url",
        "URL",
        "",
        "The address clients use when it is not this machine's own.",
        _public_url,
    ),
    Setting(
        "STRONGROOM_ALLOWED_HOSTS",
        "allowed_hosts",
        "list",
        "",
        "More names (host or host:port) by which clients may call.",
        _words,
    ),
    Setting(
        "STRONGROOM_ORIGIN_SECRET",
        "origin_secrets",
        "secret",
        "",
        "When set, requests without this x-origin-secret header get an empty 404; two values, comma-separated, while changing.",
        _secrets,
        is_secret=True,
    ),
    Setting(
        "STRONGROOM_TOOLSETS", "toolsets", "list", ",".join(TOOLSETS), "Which groups of tools are offered.", _toolsets
    ),
    Setting("STRONGROOM_DISABLED_TOOLS", "disabled_tools", "list", "", "Single tools to leave out.", _words),
    Setting("STRONGROOM_READ_ONLY", "is_read_only", "flag", "0", "Hide and refuse every tool that writes.", _flag),
    Setting(
        "STRONGROOM_COMMIT_EVERY",
        "commit_every_s",
        "duration",
        "30m",
        "How often whatever changed is committed; 0 never.",
        _duration,
    ),
    Setting(
        "STRONGROOM_COMMIT_QUIET",
        "commit_quiet_s",
        "duration",
        "60s",
        "Tool writes are committed after this long without one.",
        _duration,
    ),
    Setting(
        "STRONGROOM_COMMIT_MAX_WAIT",
        "commit_max_wait_s",
        "duration",
        "5m",
        "Tool writes wait for quiet no longer than this.",
        _duration,
    ),
    Setting(
        "STRONGROOM_COMMIT_MESSAGE",
        "commit_message",
        "text",
        "vault: {summary}",
        "First line of a commit; {summary}, {reason}, {time} and {host} are filled in.",
        _message,
    ),
    Setting(
        "STRONGROOM_AUTHOR",
        "author",
        "text",
        "Strongroom <strongroom@localhost>",
        "Author and committer of commits.",
        _author,
    ),
    Setting(
        "STRONGROOM_HISTORY_DIR",
        "history_dir",
        "path",
        "",
        "Git directory: empty for the state folder's own, .git for the vault's.",
        _history_dir,
    ),
    Setting(
        "STRONGROOM_MAX_FILE_SIZE",
        "max_file_bytes",
        "size",
        "95MB",
        "Larger files get no history and are reported.",
        _size,
    ),
    Setting(
        "STRONGROOM_LOG_LEVEL",
        "log_level",
        "word",
        "info",
        "debug, info, warning or error.",
        _one_of("debug", "info", "warning", "error"),
    ),
    Setting(
        "STRONGROOM_LOG_FORMAT",
        "log_format",
        "word",
        "auto",
        "json, console, or auto (console on a terminal).",
        _one_of("auto", "json", "console"),
    ),
    Setting("TZ", "zone", "zone", "UTC", "Zone of the owner's days: daily notes, history times.", _zone),
)

assert {row.field for row in TABLE} == {field.name for field in fields(Settings)}  # the table is the truth
