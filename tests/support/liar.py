"""Somebody in home's place who knows the key and answers as a test says, byte for byte: a home that was taken over."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Final

from service.auth.assertion import ANSWER_HEADER, HEADER, Keys
from tests.support.split import KEY

MARK: Final = b"MARK"
"""Stands in an answer for the header by which home is known."""

START: Final = "0" * 32


class Liar:
    """Listens on a port of its own. `pong` are header lines of its answers to pings; `heads` is what it was asked."""

    def __init__(self) -> None:
        self.answer = b""
        self.pong = b""
        self.heads: list[bytes] = []
        self._keys = Keys((KEY,))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no further connections."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def asked(self, path: bytes) -> list[bytes]:
        """The heads of the requests for `path`, in order."""
        return [head for head in self.heads if head.startswith(b"POST " + path + b" ")]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError), connection.makefile("rb") as requests:
            while head := self._next(requests.readline):
                requests.read(int(_value(head, b"content-length") or b"0"))
                self.heads.append(head)
                heard = self._keys.read([_value(head, HEADER)])
                mark = b"" if heard is None else ANSWER_HEADER + b": " + heard.answer(START).encode()
                if head.startswith(b"POST /edge/ping"):
                    connection.sendall(b"HTTP/1.1 204 No Content\r\n" + mark + b"\r\n" + self.pong + b"\r\n")
                    continue
                connection.sendall(self.answer.replace(MARK, mark))
                return

    def _next(self, readline: object) -> bytes:
        lines = []
        while line := readline():  # type: ignore[operator]
            lines.append(line)
            if line == b"\r\n":
                return b"".join(lines)
        return b""


def _value(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b": ")
        if key.lower() == name:
            return value
    return b""
