"""Ask the server on this machine whether it is ready: the image's health check, `python -m ops.health`.

It runs every few seconds for the life of a container, so it uses little of the standard library and nothing else: one
socket, one request, one line. Exit code 0 when `/readyz` answers 200, 1 when it does not. `strongroom health` is the same.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping

TIMEOUT_S = 4.0
_MAX_ANSWER_BYTES = 4096
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104  # where to ask, not where to listen


def main(environ: Mapping[str, str] = os.environ) -> int:
    """Ask, print one line, and return the exit code."""
    is_ready, line = ask(environ)
    print(line)  # noqa: T201  # click would cost more than the whole check
    return 0 if is_ready else 1


def ask(environ: Mapping[str, str]) -> tuple[bool, str]:
    """Whether the server that these settings describe is ready, and one line that says so or why not."""
    try:
        host, port = _address(environ)
        shown = _shown(environ)
    except ValueError as error:
        return False, str(error)
    where = f"{host}:{port}"
    try:
        status, body = _get(host, port, shown)
    except TimeoutError:
        return False, f"no answer from {where} within {TIMEOUT_S:g} s"
    except OSError as error:
        return False, f"no answer from {where}: {error.strerror or error}"
    if status == 200:
        return True, "ready"
    reasons = "".join(char for char in "; ".join(body.split("\n")) if char.isprintable()).strip("; ")
    return False, f"not ready ({status} from {where}/readyz){f': {reasons}' if reasons else ''}"


def _address(environ: Mapping[str, str]) -> tuple[str, int]:
    host = _value(environ, "STRONGROOM_HOST", "127.0.0.1")
    port = _value(environ, "STRONGROOM_PORT", "8484")
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"STRONGROOM_PORT is {port!r}: the health check needs a port from 1 to 65535")
    return _EVERYWHERE.get(host, host), int(port)


def _value(environ: Mapping[str, str], name: str, default: str) -> str:
    """As `service.settings` reads it, which would cost more than the whole check to import."""
    twin = environ.get(f"{name}_FILE")
    if not twin:
        return environ.get(name) or default
    try:
        with open(twin, encoding="utf-8") as file:
            return file.read().removesuffix("\n")
    except OSError as error:
        raise ValueError(f"{name}_FILE: cannot read {twin!r}: {error.strerror}") from error


def _shown(environ: Mapping[str, str]) -> str:
    """The header by which the half at home of a split Strongroom knows its own health check (`auth.assertion`), as a line."""
    key = _value(environ, "STRONGROOM_EDGE_KEY", "").partition(",")[0].strip()
    if not key:
        return ""
    import hmac

    return f"x-strongroom-health: {hmac.digest(key.encode(), b'strongroom edge health v1', 'sha256').hex()}\r\n"


def _get(host: str, port: int, shown: str) -> tuple[int, str]:
    """GET /readyz: the status, and the body as text.

    Raises:
        OSError: no answer, or one that is no HTTP.
    """
    address = f"[{host}]" if ":" in host else host
    with socket.create_connection((host, port), timeout=TIMEOUT_S) as connection:
        connection.sendall(
            f"GET /readyz HTTP/1.1\r\nHost: {address}:{port}\r\n{shown}Connection: close\r\n\r\n".encode()
        )
        answer = b""
        while len(answer) < _MAX_ANSWER_BYTES and (piece := connection.recv(_MAX_ANSWER_BYTES)):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    version, _, rest = head.partition(b" ")
    if not version.startswith(b"HTTP/1.") or not rest[:3].isdigit():
        raise OSError("what answers there is no web server")
    return int(rest[:3]), body.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())
