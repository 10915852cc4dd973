"""A running service that people sign in to: its public address, its owner, and a connection for each client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service.auth.passphrase import INITIAL_FILE
from tests.support.internet import Internet
from tests.support.oauth_client import Connection, Connector, Owner
from tests.support.service import Service

PUBLIC_URL: Final = "https://notes.example.org"


@dataclass(frozen=True)
class Place:
    """A service as clients on the internet know it."""

    service: Service
    internet: Internet

    @staticmethod
    @contextmanager
    def open(folder: Path, *, public_url: str = PUBLIC_URL, **settings: str) -> Iterator[Place]:
        """Start the service behind a public address; settings as in `Service.start`."""
        with Service.start(folder, PUBLIC_URL=public_url, **settings) as service:
            yield Place(service, Internet(public_url, service.port))

    @property
    def passphrase(self) -> str:
        """The one that was made at the first start; nobody has had it shown yet."""
        return (self.service.state / INITIAL_FILE).read_text(encoding="ascii").strip()

    def owner(self) -> Owner:
        """The owner, with a browser that was never here."""
        return Owner(self.internet, self.passphrase)

    def connection(self, connector: Connector) -> Connection:
        """A client that knows nothing of us but the URL."""
        return Connection(connector, self.internet)

    def connected(self, connector: Connector) -> Connection:
        """A client that the owner has allowed everything that it asked for."""
        connection = self.connection(connector)
        connection.connect(self.owner())
        return connection
