"""Lifetimes and limits for docs/reference/endpoints.md, from the constants and settings of the code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from service.auth import (
    assertion,
    audience,
    audit,
    catalogue,
    clients,
    lifetimes,
    live,
    passkeys,
    passphrase,
    pending,
    redirects,
    registration,
    throttle,
    tokens,
    window,
)
from service.settings.table import TABLE as SETTINGS
from service.web import body, home, origin, protocol
from service.web.oauth import choices, door


def lasting() -> Iterator[tuple[str, str, str]]:
    """What, how long, and the setting that changes it."""
    yield "a sign-in that waits for you", _time(pending.LIFETIME_S), ""
    yield "a page that was used can say so", _time(pending.USED_ROWS_KEPT_S), ""
    yield "an authorization code, good once", _time(lifetimes.CODE_S), ""
    yield "an access token of a hosted client", *_default("access_lifetime_s")
    yield "an access token of a client on your own machine", *_default("native_access_lifetime_s")
    yield "a refresh token that is not used", *_default("refresh_idle_s")
    yield "a used refresh token gives the same answer", *_default("refresh_grace_s")
    yield "a sign-in, as offered first on the page", f"{choices.USUAL_DAYS} days", ""
    yield "a sign-in, at the longest", *_default("grant_lifetime_s")
    yield "a token made by command", "until revoked, or `--days`", ""
    yield "a code for a new passkey, good once", _time(passkeys.CODE_LIFETIME_S), ""
    yield "a question to a passkey", _time(passkeys.CHALLENGE_LIFETIME_S), ""
    yield "a client without a grant is known", f"{clients.UNUSED_DAYS} days", ""
    yield "a client is known after its last grant ended", f"{clients.MIN_KEPT_DAYS} days", ""
    yield "the window of `strongroom auth open`, at the longest", _time(window.MAX_MINUTES * 60), ""
    yield "a revoked grant is looked for", f"every {live.POLL_S:g} s; within a second it is out", ""
    yield "what runs when the state cannot be read", f"ended after {_time(live.BLIND_S)}", ""
    yield (
        "wrong guesses at the passphrase are counted",
        f"{_time(throttle.WINDOW_S)}; once there was a wait, {_time(throttle.FORGOTTEN_AFTER_S)}",
        "",
    )
    yield (
        "the wait after too many",
        f"{_time(throttle.FIRST_WAIT_S)}, then double, up to {_time(throttle.LONGEST_WAIT_S)}",
        "",
    )


def limits() -> Iterator[tuple[str, str]]:
    """What, and how much of it."""
    yield (
        "a request's head",
        f"{_size(protocol.MAX_HEAD_BYTES)}, {protocol.MAX_HEADERS} headers, {_time(protocol.HEAD_WITHIN_S)}",
    )
    yield "a body to `/mcp`", f"{_size(body.MAX_BODY_BYTES)}, {_time(body.READ_WITHIN_S)}"
    yield "a body to anything about signing in", f"{_size(door.MAX_BODY_BYTES)}, {_time(door.READ_WITHIN_S)}"
    yield "requests at work", f"{live.MAX_REQUESTS} in all, {live.MAX_REQUESTS_OF_ONE} of one grant; more is 503"
    yield "connections that wait", f"{protocol.MAX_CONNECTIONS}; the one that waited longest makes room"
    yield "free wrong guesses at the passphrase", f"{throttle.FREE} in {_time(throttle.WINDOW_S)}"
    yield "guesses from one known address", f"{throttle.FREE_OF_ONE} in {_time(throttle.WINDOW_OF_ONE_S)}"
    yield "a passphrase that you choose", f"{passphrase.MIN_CHARS} to {passphrase.MAX_CHARS} characters"
    yield "sign-ins that wait", f"{pending.MAX_ROWS} in all, {pending.MAX_ROWS_OF_ONE} of one known address"
    yield "redirects in a registration", f"{registration.MAX_URIS}, of {redirects.MAX_CHARS} characters"
    yield "a client's name", f"{catalogue.MAX_NAME_CHARS} characters"
    yield "clients without a grant", f"{clients.MAX_WITHOUT_GRANT}"
    yield "passkeys", f"{passkeys.MAX_PASSKEYS}"
    yield "wrong codes for a new passkey", f"{passkeys.MAX_WRONG_CODES}"
    yield (
        "the audit log",
        f"{audit.KEPT + 1} files of {audit.MAX_BYTES // 1_000_000} MB for what you did, as many for what others did",
    )
    yield (
        "tokens",
        f"256 random bits; they begin with `{tokens.STATIC}` (made by command), `{tokens.ACCESS}`, `{tokens.REFRESH}`, and "
        f"codes with `{tokens.CODE}`",
    )


def split() -> Iterator[tuple[str, str]]:
    """How the two halves of a split Strongroom speak."""
    yield (
        "what home answers",
        f"`{audience.PATH}` and `{origin.PING_PATH}`, POST, signed by the edge; everything else is an empty 404",
    )
    yield (
        "the signature",
        f"header `{assertion.HEADER.decode()}`, HMAC-SHA256 with a key made from `STRONGROOM_EDGE_KEY`, over grant, rights, "
        "folders, path, headers, body, time, and which start of home it is for",
    )
    yield "good for", f"one request, {_time(assertion.SKEW_S)} either way by the clocks"
    yield (
        "home's mark on an answer",
        f"header `{assertion.ANSWER_HEADER.decode()}`; without it the edge believes nothing",
    )
    yield (
        "the edge asks whether home is there",
        f"every {_time(home.PING_S)}, every {_time(home.BUSY_PING_S)} while requests are at work",
    )
    yield "home ends what it has heard nothing of the edge for", _time(origin.SILENT_S)
    yield "a silent home is given up after", _time(home.IDLE_S)


def _default(field: str) -> tuple[str, str]:
    row = next(row for row in SETTINGS if row.field == field)
    return _words(row.default), f"`{row.name}`"


def _size(number: int) -> str:
    return f"{number // 1024 // 1024} MiB" if number >= 1024 * 1024 else f"{number // 1024} KiB"


def _time(seconds: float) -> str:
    for length, one, many in ((86_400, "day", "days"), (3600, "hour", "hours"), (60, "minute", "minutes")):
        if seconds >= length and seconds % length == 0:
            count = int(seconds // length)
            return f"{count} {one if count == 1 else many}"
    return f"{seconds:g} {'second' if seconds == 1 else 'seconds'}"


_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def _words(duration: str) -> str:
    """A setting's own spelling (`60d`) as words."""
    return _time(int(duration[:-1]) * _UNITS[duration[-1]])
