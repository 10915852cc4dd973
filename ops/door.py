"""The owner's door of a running service (`service.web.owner`), from outside: the socket in its state folder.

Nothing heavy is imported, so that `stdio` starts in the time Python takes.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SOCKET_NAME: Final = "strongroom.sock"
"""As `service.web.owner` has it; importing that would cost what joining is meant to save. A test compares them."""


_ANSWER_WITHIN_S: Final = 5.0


def knock(
    state: Path, hello: Mapping[str, object], within_s: float | None = None
) -> tuple[socket.socket, Mapping[str, object]] | None:
    """Connect to the service that runs on `state` and say `hello`: the connection, and its first line of answer.

    None when no service answers, or not within `within_s` (seconds; None waits for ever).
    """
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(within_s)
    try:
        descriptor = os.open(state, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        connection.close()
        return None
    try:
        through = Path(f"/proc/self/fd/{descriptor}")  # a socket's address holds 107 bytes, however deep the state lies
        connection.connect(str((through if through.is_dir() else state) / SOCKET_NAME))
        connection.sendall(json.dumps(hello).encode() + b"\n")
        answer = json.loads(_line(connection))
    except (OSError, ValueError):
        connection.close()
        return None
    finally:
        os.close(descriptor)
    if not isinstance(answer, dict):
        connection.close()
        return None
    return connection, answer


def streams(state: Path) -> Mapping[str, int] | None:
    """How many streams each grant has open at the running service, by the grant's id; None when no service answers."""
    found = knock(state, {"ask": "streams"}, _ANSWER_WITHIN_S)
    if found is None:
        return None
    connection, answer = found
    connection.close()
    told = answer.get("answer")
    return {str(name): int(count) for name, count in told.items()} if isinstance(told, dict) else None


def _line(connection: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)  # one at a time: what follows the line belongs to the client
        if not byte:
            raise ConnectionResetError("the service ended the session")
        line += byte
    return line
