"""A split Strongroom on the loopback interface: the edge and the half at home, two processes, with a hop between them that a
test can look into, hold up, and cut, as a tunnel's failures do.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.service import Service, wait_until

KEY: Final = "edge-key-0123456789abcdef0123456789abcdef"


@dataclass
class Tunnel:
    """Passes connections on to a port of this machine, and keeps what went through.

    `sent` is what came from the edge, in the order of the connections. `stall` holds everything back, also the ends of
    connections, as a network that silently went away does. `holds_ends` lets everything through but those.
    """

    target: int
    sent: list[bytearray] = field(default_factory=list)
    holds_ends: bool = False
    _open: set[socket.socket] = field(default_factory=set)
    _flows: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._flows.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def stall(self) -> None:
        """Let nothing through any more, and say nothing about it."""
        self._flows.clear()

    def flow(self) -> None:
        """Let it through again."""
        self._flows.set()

    def cut(self) -> None:
        """Break every connection that is open."""
        for one in list(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Take no further connections, and break those there are."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._flows.set()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    near.close()
                    continue
                for end in (near, far):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as ssh does for what it forwards
                self._open |= {near, far}
                seen = bytearray()
                self.sent.append(seen)
                ways = [
                    threading.Thread(target=self._pass, args=way, daemon=True)
                    for way in ((near, far, seen), (far, near, None))
                ]
                for way in ways:
                    way.start()
                threading.Thread(target=self._close_after, args=(ways, near, far), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, seen: bytearray | None) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                self._flows.wait()
                if seen is not None:
                    seen += piece
                target.sendall(piece)
        self._flows.wait()
        if self.holds_ends and seen is not None:
            return
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def _close_after(self, ways: list[threading.Thread], *ends: socket.socket) -> None:
        for way in ways:
            way.join()
        for end in ends:
            self._open.discard(end)
            end.close()


@dataclass(frozen=True)
class Split:
    """Both halves, and the hop between them."""

    edge: Service
    home: Service
    tunnel: Tunnel


@contextmanager
def beside(tunnel: Tunnel, folder: Path, **edge: str) -> Iterator[Service]:
    """An edge that reaches home through `tunnel`, not waited for to find it."""
    folder.mkdir()
    url = f"http://127.0.0.1:{tunnel.port}"
    with Service.start(folder, command="edge", **{"EDGE_KEY": KEY, "HOME_URL": url, **edge}) as service:
        yield service


@contextmanager
def split(folder: Path, *, module: str = "ops", home: dict[str, str] | None = None, **edge: str) -> Iterator[Split]:
    """Start both halves below `folder`.

    Args:
        module: as in `Service.start`, for the half at home.
        home: settings of the half at home; the others are the edge's.
    """
    (folder / "home").mkdir(exist_ok=True)
    with Service.start(folder / "home", module=module, **{"EDGE_KEY": KEY, **(home or {})}) as at_home:
        tunnel = Tunnel(at_home.port)
        try:
            with beside(tunnel, folder / "edge", **edge) as at_edge:
                wait_until(lambda: at_edge.lines("home.found") != [], 20, lambda: f"find home: {at_edge.log}")
                yield Split(at_edge, at_home, tunnel)
        finally:
            tunnel.close()
