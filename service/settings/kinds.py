"""How each kind of value is read. Every reader takes the text and gives the value.

Raises (all of them): ValueError with a sentence that says what to give instead. A secret's own text is in none of them.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

DEFAULT_TOOLSETS: Final = ("notes", "daily", "tasks", "metadata", "links", "history")
TOOLSETS: Final = (*DEFAULT_TOOLSETS, "files", "connector")
LOCALES: Final = (
    "cs", "da", "de", "de-at", "de-ch", "en", "en-au", "en-ca", "en-gb", "en-ie", "en-in", "en-nz", "es", "fi", "fr", "fr-ca",
    "fr-ch", "hu", "id", "it", "ja", "ko", "nb", "nl", "nn", "pl", "pt", "pt-br", "ro", "ru", "sk", "sv", "tr", "vi", "zh-cn",
    "zh-tw",
)  # fmt: skip
"""The languages that `service.vault.locales` knows, by moment.js's names; a test holds the two together."""
WRITE_TYPES: Final = ("canvas", "base")
OFF: Final = "off"
"""How a list or a number that has a default is switched off, since a name set to nothing counts as not set."""
MIN_ORIGIN_SECRET_CHARS: Final = 32
MAX_DURATION_S: Final = 366 * 86400
_UNSAFE_SCHEMES: Final = (
    "http",
    "javascript",
    "data",
    "file",
    "vbscript",
    "blob",
    "about",
    "filesystem",
    "ws",
    "wss",
    "ftp",
)

_HOST_AND_PORT: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:(?P<port>[0-9]{1,5}))?")


def path(raw: str) -> Path:
    path = Path(raw).expanduser()
    if not path.is_absolute():
        raise ValueError(f"{raw!r} is no absolute path; begin with /")
    return path


def host(raw: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9.:_-]+", raw):
        raise ValueError(f"{raw!r} is no address to listen on; give one such as 127.0.0.1 or 0.0.0.0")
    return raw


def port(raw: str) -> int:
    if is_service_link(raw):
        return 0  # `settings.load` says what this is, once for all such names
    if not re.fullmatch(r"[0-9]{1,5}", raw) or int(raw) > 65535:
        raise ValueError(f"{raw!r} is no port; give a number from 1 to 65535 (0 takes any free one)")
    return int(raw)


def public_url(raw: str) -> str | None:
    if not raw:
        return None
    parts = urlsplit(raw)
    is_plain = not (parts.query or parts.fragment or parts.username or parts.password) and parts.path in ("", "/")
    if parts.scheme not in ("https", "http") or not parts.hostname or not is_plain or not _has_good_port(parts.netloc):
        raise ValueError("give the address clients use, such as https://notes.example.org, without a path")
    return f"{parts.scheme}://{parts.netloc}".lower()


def words(raw: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in raw.split(",") if word.strip())


def hosts(raw: str) -> tuple[str, ...]:
    named = words(raw)
    for word in named:
        if not _HOST_AND_PORT.fullmatch(word) or not _has_good_port(word):
            raise ValueError(f"{word!r} is no host; give a name with or without a port, such as nas.local:8484")
    return named


def _has_good_port(host: str) -> bool:
    found = _HOST_AND_PORT.fullmatch(host)
    return found is not None and (not found["port"] or 0 < int(found["port"]) <= 65535)


def toolsets(raw: str) -> tuple[str, ...]:
    named = words(raw)
    if not named:
        raise ValueError(f"that names no toolset; give one or more of: {', '.join(TOOLSETS)}")
    for word in named:
        if word not in TOOLSETS:
            raise ValueError(f"there is no toolset {word!r}{_nearest(word, TOOLSETS)} There are: {', '.join(TOOLSETS)}")
    return named


def _nearest(word: str, known: Sequence[str]) -> str:
    """The end of "there is no such word": the name that was likely meant, if one is near enough to be that."""
    near = difflib.get_close_matches(word, known, n=1)
    return f": did you mean {near[0]}?" if near else "."


def secrets(raw: str) -> tuple[str, ...]:
    found = words(raw)
    if raw and not found:
        raise ValueError("that holds no secret, and would switch it off without a word; give one, or unset it")
    if len(found) > 2:
        raise ValueError("give one secret, or two separated by a comma while changing from one to the other")
    if any(not re.fullmatch(rf"[!-~]{{{MIN_ORIGIN_SECRET_CHARS},}}", secret) for secret in found):
        raise ValueError(
            f"use at least {MIN_ORIGIN_SECRET_CHARS} random ASCII characters without blanks, for example from: openssl rand -hex 32"
        )
    return found


def folders(raw: str) -> tuple[str, ...]:
    if raw.strip().lower() == OFF:
        return ()
    named = tuple(word.removesuffix("/") for word in words(raw))
    if not named:
        raise ValueError(f"that names no folder; give some, separated by commas, or {OFF} for none")
    for word in named:
        if word.startswith("/") or "\\" in word or any(part in ("", ".", "..") for part in word.split("/")):
            raise ValueError(f"{word!r} is no folder of the vault; give one such as Clippings or Archive/Web")
    return named


def some_folders(raw: str) -> tuple[str, ...]:
    return folders(raw) if raw.strip() else ()


def count(raw: str) -> int | None:
    if raw.strip().lower() == OFF:
        return None
    if not re.fullmatch(r"\s*[0-9]{1,9}\s*", raw):
        raise ValueError(f"{raw!r} is no number; give one from 0 up, or {OFF} for no limit")
    return int(raw)


def write_types(raw: str) -> tuple[str, ...]:
    """The suffixes of further file types that may be written."""
    named = tuple(word.lower().removeprefix(".") for word in words(raw))
    for word in named:
        if word not in WRITE_TYPES:
            raise ValueError(
                f"{word!r} is no file type that can be allowed; give one or both of: {', '.join(WRITE_TYPES)}"
            )
    return tuple(f".{word}" for word in named)


def flag(raw: str) -> bool:
    word = raw.strip().lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off", ""):
        return False
    raise ValueError(f"{raw!r} is neither yes nor no; give 1 or 0")


def duration(raw: str) -> float:
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(s|m|h|d)?\s*", raw)
    if not match:
        raise ValueError(
            f"{raw!r} is no length of time; give seconds, or one such as 90s, 30m or 2h (0 switches it off)"
        )
    seconds = float(match[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[match[2] or "s"]
    if seconds > MAX_DURATION_S:
        raise ValueError(f"{raw[:20]!r} is longer than a year; give less (0 switches it off)")
    return seconds


def between(least: str, most: str) -> Callable[[str], float]:
    """A length of time within bounds, both included."""

    def parse(raw: str) -> float:
        seconds = duration(raw)
        if not duration(least) <= seconds <= duration(most):
            raise ValueError(f"{raw[:20]!r} is out of bounds; give {least} to {most}")
        return seconds

    return parse


def header(raw: str) -> str:
    """The name of a header, in lower case as ASGI has it."""
    if raw and not re.fullmatch(r"[A-Za-z0-9-]{1,60}", raw):
        raise ValueError(f"{raw[:60]!r} is no name of a header; give one such as CF-Connecting-IP")
    return raw.lower()


def redirects(raw: str) -> tuple[str, ...]:
    """Redirect URIs: https, or a scheme of an app's own; nothing that a browser would run or read locally."""
    named = words(raw)
    for word in named:
        parts = urlsplit(word)
        is_odd = not re.fullmatch(r"[!-~]+", word) or "\\" in word or parts.fragment or parts.username or ".." in word
        if is_odd or not parts.scheme or parts.scheme in _UNSAFE_SCHEMES or not (parts.netloc or parts.path):
            raise ValueError(
                f"{word[:80]!r} is no address to be sent back to; give one such as https://app.example/callback"
            )
    return named


def key(raw: str) -> str:
    found = raw.strip()
    if found and not re.fullmatch(rf"[!-~]{{{MIN_ORIGIN_SECRET_CHARS},}}", found):
        raise ValueError(
            f"use at least {MIN_ORIGIN_SECRET_CHARS} random ASCII characters without blanks, for example from: openssl rand -hex 32"
        )
    return found


def size(raw: str) -> int:
    match = re.fullmatch(r"\s*([0-9]+)\s*(KB|MB|GB|K|M|G)?\s*", raw, re.IGNORECASE)
    if not match:
        raise ValueError(f"{raw!r} is no size; give bytes, or one such as 95MB")
    return int(match[1]) * {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3}[(match[2] or "")[:1].upper()]


def author(raw: str) -> str:
    if not re.fullmatch(r"[^<>\n\0]+ <[^<>\n\0]*>", raw):
        raise ValueError(f"{raw!r} is no author; give a name and an address, such as Ada <ada@example.org>")
    return raw


def message(raw: str) -> str:
    if not raw.strip() or "\n" in raw:
        raise ValueError("the message must be one line, and not blank")
    unknown = set(re.findall(r"{([^}]*)}", raw)) - {"summary", "reason", "time", "host"}
    if unknown:
        raise ValueError("only {summary}, {reason}, {time} and {host} are filled in; leave other braces out")
    return raw


def history_dir(raw: str) -> str:
    if raw not in ("", ".git") and not Path(raw).is_absolute():
        raise ValueError(
            f"{raw!r} is none of: empty (history in the state folder), .git (the vault's own), an absolute path"
        )
    return raw


def one_of(*known: str) -> Callable[[str], str]:
    def parse(raw: str) -> str:
        if raw.lower() not in known:
            raise ValueError(f"{raw!r} is not known; give one of: {', '.join(known)}")
        return raw.lower()

    return parse


def locale(raw: str) -> str:
    name = raw.strip().partition(".")[0].replace("_", "-").lower()
    for found in (name, name.partition("-")[0]):
        if found in LOCALES or not found:
            return found
    raise ValueError(f"{raw!r} is no language known here{_nearest(found, LOCALES)} There are: {', '.join(LOCALES)}")


def zone(raw: str) -> ZoneInfo:
    if not raw:
        return machine_zone()
    try:
        return ZoneInfo(raw.removeprefix(":"))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"{raw!r} is no zone of the tz database; give one such as Europe/Berlin (and see that tzdata is installed)"
        ) from None


def machine_zone(link: Path = Path("/etc/localtime")) -> ZoneInfo:
    """The zone that this machine is set to, by the link that systemd and Debian keep; UTC where there is none.

    Raises:
        ValueError: not even UTC is known: the tz database is missing.
    """
    _, _, key = os.path.realpath(link).partition("/zoneinfo/")
    for name in (key.removeprefix("posix/"), "UTC"):
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    raise ValueError("there is no tz database here; install tzdata")


def is_service_link(raw: str) -> bool:
    """Whether this is what Kubernetes sets NAME_PORT to for a service."""
    return raw.startswith(("tcp://", "udp://", "sctp://"))
