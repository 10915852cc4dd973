"""From the start of a process to the first list of tools: ours, a bare server of the SDK, MCPVault; and to a first search.

Each start is of a fresh process, over stdio, by the official client; ours and the others by turns.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence

from tests.bench import engines
from tests.bench.model import Target
from tests.bench.run import Run
from tests.bench.vaults import Measured
from tests.support.service import ROOT

TO_BARE = Target(0.85)
BESIDE = Target(150, "ms")
FIRST_SEARCH = Target(1500, "ms")
BARE = [sys.executable, str(ROOT / "tests" / "bench" / "bare.py")]


async def measure(run: Run, vault: Measured) -> None:
    rounds = max(3, run.rounds // 2 + 1)
    starts: dict[str, list[float]] = {"ours": [], "bare": [], "peer": [], "beside": []}
    searches: dict[str, list[float]] = {"ours": [], "peer": []}
    with run.service(vault.folder) as service:
        beside = {**service.environ, "STRONGROOM_LOG_LEVEL": "warning"}
        for _ in range(rounds):
            words = run.questions(vault).next("rare")
            starts["bare"].append((await started(BARE, os.environ))[0])
            with run.folder() as state:
                environ = engines.our_environment(vault.folder, state, **engines.QUIET)
                until_list, until_found = await started(engines.our_command(), environ, words)
            starts["ours"].append(until_list)
            searches["ours"].append(until_found)
            starts["beside"].append((await started(engines.our_command(), beside))[0])
            if not run.peers.why and vault.name != "100k":
                until_list, until_found = await started(
                    run.peers.command(engines.MCPVAULT, vault.folder), os.environ, words
                )
                starts["peer"].append(until_list)
                searches["peer"].append(until_found)
    run.compare("start", vault.name, "start → tools/list", starts["ours"], starts["bare"], "a bare SDK server", TO_BARE)
    if starts["peer"]:
        run.compare(
            "start",
            vault.name,
            "start → tools/list",
            starts["ours"],
            starts["peer"],
            "MCPVault",
            None,
            is_speed_up=True,
        )
    run.bound("start", vault.name, "`strongroom stdio` beside a running service", starts["beside"], BESIDE)
    run.bound(
        "start", vault.name, "tools/list → first search", searches["ours"], FIRST_SEARCH, is_aimed=vault.name == "wdd"
    )
    if searches["peer"]:
        run.compare(
            "start", vault.name, "tools/list → first search", searches["ours"], searches["peer"], "MCPVault", None
        )


async def started(command: Sequence[str], environ: Mapping[str, str], words: str = "") -> tuple[float, float]:
    """Milliseconds until the list of tools was there, and from then until a first search was answered."""
    began = time.perf_counter()
    async with engines.by_stdio("one that starts", command, environ) as engine:
        await engine.client.list_tools()
        listed = time.perf_counter()
        if words:
            await engine.call("search_notes", query=words)
        return 1000 * (listed - began), 1000 * (time.perf_counter() - listed)
