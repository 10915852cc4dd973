"""A whole search, as a client has it: ours over stdio and HTTP, ripgrep on the same vault with a warm cache, the peers.

Two rows of the issue and the plot come from one set of turns: in each, everybody gets the same query.
"""

from __future__ import annotations

from contextlib import AsyncExitStack

from tests.bench import engines
from tests.bench.engines import Engine
from tests.bench.model import Target, aimed
from tests.bench.run import Run, warm
from tests.bench.turns import by_turns
from tests.bench.vaults import Measured

TO_RIPGREP = Target(0.1)
TO_MCPVAULT = {"wdd": Target(200, is_least=True), "100k": Target(300, is_least=True)}
KINDS = ("rare", "nothing", "common", "phrase")
PLOTTED = ("rare", "nothing")
"""Of these an engine has to read everything, however early it stops."""

RIPGREP = "ripgrep"


async def measure(run: Run, vault: Measured) -> None:
    """Every kind of query on a vault that the issue names."""
    await _measure(run, vault, KINDS, is_named=True)


async def points(run: Run, vault: Measured) -> None:
    """Only what the plot needs."""
    await _measure(run, vault, PLOTTED, is_named=False)


async def _measure(run: Run, vault: Measured, kinds: tuple[str, ...], *, is_named: bool) -> None:
    async with AsyncExitStack() as held:
        service = held.enter_context(run.service(vault.folder))
        token = service.token("bench")
        ours = [
            await held.enter_async_context(run.stdio(vault)),
            await held.enter_async_context(engines.ours_by_http(service, token)),
            await held.enter_async_context(engines.ours_by_http(service, token, is_modern=False)),
        ]
        for engine in ours:
            await warm(engine)
        peers = await _peers(run, vault, held)
        every: dict[str, list[float]] = {}
        for kind in kinds:
            acts = {engine.name: engine.search for engine in (*ours, *peers)}
            if engines.ripgrep():

                async def grep(words: str) -> None:
                    engines.run_ripgrep(vault.folder, words)

                acts[RIPGREP] = grep  # type: ignore[assignment]
            times = await by_turns(
                acts, lambda kind=kind: run.questions(vault).next(kind), run.rounds, budget_s=20 if run.is_quick else 30
            )
            if kind in PLOTTED:
                for name, taken in times.items():
                    every.setdefault(name, []).extend(taken)
            if is_named:
                _tell(run, vault, kind, times, [engine.name for engine in ours])
        for name, taken in every.items():
            run.point(name, vault, taken)


def _tell(run: Run, vault: Measured, kind: str, times: dict[str, list[float]], ours: list[str]) -> None:
    for name in ours:
        if RIPGREP in times:
            run.compare(
                "search",
                vault.name,
                f"{name}: {kind}",
                times[name],
                times[RIPGREP],
                "rg -i -F -l",
                aimed(TO_RIPGREP, vault.name),
            )
    if engines.MCPVAULT in times:
        run.compare(
            "peers", vault.name, f"{ours[0]}: {kind}", times[ours[0]], times[engines.MCPVAULT], "MCPVault",
            TO_MCPVAULT.get(vault.name), is_speed_up=True,
        )  # fmt: skip
    if engines.OBSIDIAN_MCP in times:
        run.compare(
            "peers",
            vault.name,
            f"{ours[0]}: {kind}",
            times[ours[0]],
            times[engines.OBSIDIAN_MCP],
            "obsidian-mcp",
            None,
            is_speed_up=True,
        )


async def _peers(run: Run, vault: Measured, held: AsyncExitStack) -> list[Engine]:
    if not engines.ripgrep():
        run.miss("search", vault.name, "ripgrep (rg) is not installed")
    if run.peers.why:
        run.miss("peers", vault.name, run.peers.why)
        return []
    return [
        await held.enter_async_context(run.peers.running(name, vault.folder))
        for name in (engines.MCPVAULT, engines.OBSIDIAN_MCP)
    ]
