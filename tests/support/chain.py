"""The whole chain in containers, as a person would have it:

    client ─TLS─► Caddy ─► edge ─► sshd at the edge ◄─ ssh -R ─ home          (nothing dials in at home; it has no port)

sshd shares the edge's network and the ssh client that of home, so the tunnel ends on loopback at both ends. `alone` is the
same Caddy in front of a Strongroom that stands alone.
"""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.appliance import HARDENED, LABEL, free_port
from tests.support.engine import CHECKOUT, Engine
from tests.support.internet import Internet
from tests.support.service import wait_until

KEY: Final = "edge-key-0123456789abcdef0123456789abcdef"
SECRET: Final = "origin-secret-0123456789abcdef0123456789"
TUNNEL_PORT: Final = 8485
_UP_WITHIN_S: Final = 60


@dataclass(frozen=True)
class Box:
    """One container, by its name."""

    engine: Engine
    name: str

    def exec(self, *words: str, is_checked: bool = True) -> subprocess.CompletedProcess[str]:
        return self.engine.run("exec", self.name, *words, is_checked=is_checked)

    def cli_json(self, *words: str) -> Any:
        """Run `strongroom WORDS --json` inside; what it said."""
        return json.loads(self.exec("strongroom", *words, "--json").stdout)

    def is_ready(self) -> bool:
        return self.exec("python", "-m", "ops.health", is_checked=False).returncode == 0

    @property
    def address(self) -> str:
        """Its address on the engine's own network."""
        shown = json.loads(self.engine.run("inspect", self.name).stdout)[0]["NetworkSettings"]
        found = [shown.get("IPAddress"), *(one.get("IPAddress") for one in (shown.get("Networks") or {}).values())]
        return next(address for address in found if address)

    @property
    def log(self) -> str:
        done = self.engine.run("logs", self.name)
        return done.stdout + done.stderr


@dataclass(frozen=True)
class Chain:
    """Everything that runs. `home` and `tunnel` are None when Strongroom stands alone behind Caddy."""

    engine: Engine
    caddy: Box
    edge: Box
    port: int
    authority: Path
    sshd: Box | None = None
    home: Box | None = None
    tunnel: Box | None = None

    @property
    def base(self) -> str:
        return f"https://localhost:{self.port}"

    @property
    def tls(self) -> ssl.SSLContext:
        """Trusts Caddy's own authority and no other."""
        return ssl.create_default_context(cafile=str(self.authority))

    def internet(self) -> Internet:
        """The way of a client of OAuth."""
        return Internet(self.base, self.port, tls=self.tls)

    @asynccontextmanager
    async def client(self, token: str, era: str) -> AsyncIterator[Client]:
        """The official client, over TLS."""
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, verify=self.tls, timeout=30) as http,
            Client(streamable_http_client(f"{self.base}/mcp", http_client=http), mode=era) as client,
        ):
            yield client

    def wait_until_ready(self) -> float:
        boxes = [one for one in (self.edge, self.home, self.sshd, self.tunnel) if one is not None]
        return wait_until(
            lambda: self.edge.is_ready() and self._is_proxy_up(),
            _UP_WITHIN_S,
            lambda: "be ready: " + "".join(one.log[-1000:] for one in boxes),
        )

    def _is_proxy_up(self) -> bool:
        try:
            with socket.create_connection(("localhost", self.port), timeout=1):
                return True
        except OSError:
            return False


@contextmanager
def alone(engine: Engine, image: str, tools: str, folder: Path) -> Iterator[Chain]:
    """Caddy in front of one Strongroom."""
    with ExitStack() as held:
        port = free_port()
        box = held.enter_context(_strongroom(engine, image, "serve", _public(port)))
        yield held.enter_context(_behind_caddy(engine, tools, folder, box, port))


@contextmanager
def split(engine: Engine, image: str, tools: str, folder: Path) -> Iterator[Chain]:
    """Caddy, the edge, the tunnel, home."""
    with ExitStack() as held:
        port = free_port()
        at_home = f"http://127.0.0.1:{TUNNEL_PORT}"
        edge = held.enter_context(
            _strongroom(engine, image, "edge", {**_public(port), "HOME_URL": at_home, "EDGE_KEY": KEY})
        )
        home = held.enter_context(_strongroom(engine, image, "serve --origin", {"EDGE_KEY": KEY}))
        keys = _keys(folder / "ssh")
        sshd = held.enter_context(_tool(engine, tools, keys, edge, _SSHD))
        tunnel = held.enter_context(_tool(engine, tools, keys, home, _SSH.format(edge=edge.address)))
        front = held.enter_context(_behind_caddy(engine, tools, folder, edge, port))
        yield Chain(engine, front.caddy, edge, port, front.authority, sshd, home, tunnel)


def _public(port: int) -> dict[str, str]:
    return {"PUBLIC_URL": f"https://localhost:{port}", "ORIGIN_SECRET": SECRET}


@contextmanager
def _strongroom(engine: Engine, image: str, command: str, settings: Mapping[str, str]) -> Iterator[Box]:
    environment = [f"--env=STRONGROOM_{name}={value}" for name, value in settings.items()]
    folders = [f"--tmpfs={path}:mode=1777" for path in ("/vault", "/state", "/tmp")]
    with _running(engine, image, *environment, *folders, *_hardened(), command=command.split()) as box:
        yield box


def _hardened() -> list[str]:
    options = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
    return [*options, f"--pids-limit={HARDENED['pids_limit']}", f"--memory={HARDENED['mem_limit']}"]


@contextmanager
def _behind_caddy(engine: Engine, tools: str, folder: Path, box: Box, port: int) -> Iterator[Chain]:
    """The example of `container/`, as it is; for the name localhost Caddy is an authority of its own."""
    (folder / "caddy").mkdir()
    settings = {
        "DOMAIN": "localhost",
        "UPSTREAM": f"{box.address}:8484",
        "ORIGIN_SECRET": SECRET,
        "XDG_DATA_HOME": "/data",
        "BUFFERING": "buffer_requests",
    }
    options = [f"--env={name}={value}" for name, value in settings.items()]
    options += [
        f"--volume={CHECKOUT / 'container' / 'Caddyfile'}:/etc/caddy/Caddyfile:ro",
        f"--volume={folder / 'caddy'}:/data",
    ]
    command = ["caddy", "run", "--config", "/etc/caddy/Caddyfile"]
    with _running(engine, tools, f"--publish=127.0.0.1:{port}:443", *options, command=command) as caddy:
        authority = folder / "caddy" / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        wait_until(authority.exists, _UP_WITHIN_S, lambda: f"make an authority: {caddy.log[-2000:]}")
        yield Chain(engine, caddy, box, port, authority)


_SSHD: Final = """
adduser --quiet --disabled-password --gecos '' tunnel && usermod -p '*' tunnel && mkdir -p /run/sshd /home/tunnel/.ssh
(printf 'restrict,port-forwarding,permitlisten="127.0.0.1:8485" '; cat /keys/client.pub) >/home/tunnel/.ssh/authorized_keys
install -m 600 /keys/server /etc/ssh/host && exec /usr/sbin/sshd -D -e -p 2222 -h /etc/ssh/host -o UsePAM=no \
 -o PasswordAuthentication=no -o StrictModes=no -o ClientAliveInterval=5 -o ClientAliveCountMax=2
"""
_SSH: Final = """
install -m 600 /keys/client /root/client
while :; do
 ssh -N -i /root/client -p 2222 -o UserKnownHostsFile=/keys/known -o StrictHostKeyChecking=yes -o HostKeyAlias=edge \
  -o ExitOnForwardFailure=yes -o ServerAliveInterval=5 -o ServerAliveCountMax=2 -R 127.0.0.1:8485:127.0.0.1:8484 tunnel@{edge} || true
 sleep 0.5
done
"""
"""What `container/strongroom-tunnel.service` does, with a shell for systemd."""


@contextmanager
def _tool(engine: Engine, tools: str, keys: Path, beside: Box, script: str) -> Iterator[Box]:
    """A program in the network of another container."""
    options = (f"--network=container:{beside.name}", f"--volume={keys}:/keys:ro")
    with _running(engine, tools, *options, command=["sh", "-ec", script]) as box:
        yield box


def _keys(folder: Path) -> Path:
    folder.mkdir()
    for name in ("server", "client"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=20)
    public = (folder / "server.pub").read_text(encoding="ascii")
    (folder / "known").write_text(f"edge {public}", encoding="ascii")
    return folder


_COUNT: Final = iter(range(1_000_000))


@contextmanager
def _running(engine: Engine, image: str, *options: str, command: list[str]) -> Iterator[Box]:
    name = f"strongroom-chain-{os.getpid()}-{next(_COUNT)}"
    engine.run("run", "--detach", "--name", name, "--label", LABEL, *options, image, *command, timeout_s=120)
    try:
        yield Box(engine, name)
    finally:
        at_once = ("--time=0",) if engine.name == "podman" else ()
        engine.run("rm", "--force", *at_once, "--volumes", name, is_checked=False, timeout_s=60)
