"""Questions about what notes hold, warm, beside the nearest call that MCPVault has, both over stdio.

It has no list of tasks, no links, no tree: nearest is then the call that reads what such an answer needs, without making it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from pathlib import PurePath

from tests.bench.engines import Engine
from tests.bench.model import Figure, Target, aimed
from tests.bench.run import Run
from tests.bench.turns import by_turns
from tests.bench.vaults import Measured

TO_MCPVAULT = Target(100, is_least=True)
ON_WDD = Target(10, "ms")

Ask = Callable[[Engine, str], Awaitable[object]]


def _day(path: str) -> str:
    return str(date(2012, 1, 1) + timedelta(days=sum(path.encode()) % 6000))


def _stem(path: str) -> str:
    return PurePath(path).stem


OURS: dict[str, Ask] = {
    "list_tags": lambda engine, _: engine.call("list_tags"),
    "list_tasks": lambda engine, path: engine.call("list_tasks", due_before=_day(path), status="all"),
    "get_links": lambda engine, path: engine.call("get_links", path=path),
    "find_broken_links": lambda engine, _: engine.call("find_broken_links"),
    "get_vault_tree": lambda engine, _: engine.call("get_vault_tree"),
    "get_vault_stats": lambda engine, _: engine.call("get_vault_stats"),
    "resolve_link": lambda engine, path: engine.call("resolve_link", link=path),
    "list_recent": lambda engine, _: engine.call("list_recent"),
}
NEAREST: dict[str, tuple[str, Ask]] = {
    "list_tags": ("list_all_tags", lambda engine, _: engine.call("list_all_tags")),
    "list_tasks": ("search_notes for '- [ ]'", lambda engine, _: engine.call("search_notes", query="- [ ]", limit=20)),
    "get_links": (
        "search_notes for the name",
        lambda engine, path: engine.call("search_notes", query=_stem(path), limit=20),
    ),
    "find_broken_links": ("search_notes for '[['", lambda engine, _: engine.call("search_notes", query="[[", limit=20)),
    "get_vault_tree": ("get_vault_stats", lambda engine, _: engine.call("get_vault_stats")),
    "get_vault_stats": ("get_vault_stats", lambda engine, _: engine.call("get_vault_stats")),
    "resolve_link": ("wiki_link", lambda engine, path: engine.call("wiki_link", document=_stem(path))),
    "list_recent": ("get_vault_stats", lambda engine, _: engine.call("get_vault_stats", recentCount=10)),
}


async def measure(run: Run, vault: Measured) -> None:
    async with run.stdio(vault) as ours, run.mcpvault(vault, "facts") as theirs:
        markdown = [path for path in run.questions(vault).paths if path.endswith(".md")]
        run.questions(vault).paths[:] = markdown
        for tool, ask in OURS.items():
            began = time.perf_counter()
            await ask(ours, run.questions(vault).path())  # knows its facts from then on
            first = 1000 * (time.perf_counter() - began)
            acts = {"ours": lambda path, ask=ask: ask(ours, path)}
            if theirs is not None:
                acts["theirs"] = lambda path, ask=NEAREST[tool][1]: ask(theirs, path)  # type: ignore[misc]
            times = await by_turns(acts, run.questions(vault).path, run.rounds, budget_s=20)
            if theirs is not None:
                run.compare(
                    "facts",
                    vault.name,
                    tool,
                    times["ours"],
                    times["theirs"],
                    f"MCPVault {NEAREST[tool][0]}",
                    aimed(TO_MCPVAULT, vault.name),
                    is_speed_up=True,
                )
            run.tell(Figure("facts", vault.name, f"{tool}, the first time", first, None))
            if vault.name == "wdd":
                run.bound("facts", vault.name, f"{tool}, itself", times["ours"], ON_WDD)
