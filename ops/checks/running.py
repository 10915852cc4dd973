"""The running server, and the clock that it lives by."""

from __future__ import annotations

import errno
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from ops import health
from ops.checks.finding import Finding, Patient, fail, ok, warn
from ops.door import SOCKET_NAME
from service.store.lock import Holder, Lock

LOCK_NAME: Final = "server.lock"
_EARLIEST: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""No clock that is right can be before the first release."""


def server(state: Path) -> Holder | None:
    """Who serves this state: process and start, as it wrote them; None when nobody does."""
    return Lock(state / LOCK_NAME, "the state").holder()


def port(patient: Patient) -> Finding:
    """The server answers on its port; without a server, nobody else has it."""
    settings = patient.settings
    who = server(settings.state)
    if who is None:
        return _is_free(settings.host, settings.port)
    is_ready, line = health.ask(dict(patient.environ))
    if is_ready:
        return ok(f"the server on port {settings.port} is ready ({who})")
    if not (settings.state / SOCKET_NAME).exists():
        return ok(f"{who} serves one client over stdio, without a port (or is a server that just starts)")
    return fail(
        line,
        f"a server holds the state ({who}) but does not say that it is ready",
        "read its log; the other checks here say what is wrong, or that it uses other settings than this command",
    )


def _is_free(host: str, number: int) -> Finding:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, number))
        except OSError as error:
            todo = {
                errno.EADDRINUSE: "stop that program, or choose another STRONGROOM_PORT",
                errno.EACCES: "choose a STRONGROOM_PORT above 1023",
                errno.EADDRNOTAVAIL: "STRONGROOM_HOST is no address of this machine: use 127.0.0.1 or 0.0.0.0",
            }.get(error.errno or 0, "check STRONGROOM_HOST and STRONGROOM_PORT")
            return fail(f"{host}:{number} cannot be used ({error.strerror})", "the server will not start", todo)
    return ok(f"{host}:{number} is free (no server is running)")


def clock(patient: Patient) -> Finding:
    """The clock is plausible, agrees with the files, and the zone is the owner's."""
    now, zone = patient.clock.now(), patient.settings.zone
    if now < _EARLIEST:
        return fail(
            f"this machine says that it is {now:%Y-%m-%d %H:%M} UTC",
            "tokens look expired or not yet made, daily notes get a wrong date",
            "set the clock, and keep it right with NTP",
        )
    future = patient.survey.from_the_future if patient.settings.vault.is_dir() else []
    if future:
        return warn(
            f"{len(future):,} files are dated more than a day ahead, such as {future[0]!r}",
            "some device's clock is wrong; such notes stay on top of every list of recent ones",
            "check the clocks of the devices; `touch` the files",
        )
    local = now.astimezone(zone)
    is_set = patient.environ.get("TZ") or patient.environ.get("TZ_FILE")
    if not is_set and not local.utcoffset() and not patient.settings.is_edge:  # whose day begins nowhere
        return warn(
            f"it is {local:%Y-%m-%d %H:%M} in {zone.key}; TZ is not set",
            "your day may begin hours away from midnight UTC, and daily notes with it",
            "set TZ to your zone, such as TZ=Europe/Berlin",
        )
    offset = local.utcoffset() or timedelta()
    return ok(f"it is {local:%Y-%m-%d %H:%M} in {zone.key} (UTC{offset.total_seconds() / 3600:+g})")
