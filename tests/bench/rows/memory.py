"""What a running service keeps in memory when nobody asks: with an empty vault, and on top of that with a whole one.

With the settings it comes with, once the first commit is made and every question over the vault was asked once. Before the
first sign-in, which needs memory for its passphrase and gives it back (decisions.md 27).
"""

from __future__ import annotations

import re
from pathlib import Path

import anyio

from tests.bench import engines
from tests.bench.engines import text_of
from tests.bench.model import Figure, Target, aimed
from tests.bench.run import Run, warm
from tests.bench.vaults import Measured, visible
from tests.support.service import Service, wait_until

EMPTY = Target(85, "MiB")
ON_TOP = Target(2)
MIB = 1 << 20
FIRST_COMMIT_WITHIN_S = 900
REST_S = 5.0

QUESTIONS = (
    ("search_notes", {"query": "warm"}),
    ("search_notes", {"query": "warm and ranked words", "mode": "ranked"}),
    ("list_tags", {}),
    ("list_tasks", {}),
    ("find_broken_links", {}),
    ("get_vault_tree", {}),
    ("get_vault_stats", {}),
    ("list_recent", {}),
    ("resolve_link", {"link": "no such note at all"}),
)


async def measure(run: Run, vault: Measured) -> None:
    with run.folder() as folder:
        empty, empty_pss = await at_rest(folder, folder / "vault")
    with run.folder() as folder:
        full, full_pss = await at_rest(folder, vault.folder)
    for kind, value in (("RSS", empty), ("PSS", empty_pss)):
        run.tell(
            Figure(
                "memory", "empty", f"{kind} with an empty vault", value / MIB, EMPTY if kind == "RSS" else None, "MiB"
            )
        )
    on_top = (full - empty) / vault.size_bytes
    run.tell(
        Figure("memory", vault.name, "on top of it, to the text's bytes, RSS", on_top, aimed(ON_TOP, vault.name), "×")
    )
    run.tell(Figure("memory", vault.name, "the same, PSS", (full_pss - empty_pss) / vault.size_bytes, None, "×"))
    print(f"  RSS {empty / MIB:.0f} and {full / MIB:.0f} MiB, the text has {vault.size_bytes / MIB:.0f} MiB")


async def at_rest(folder: Path, vault: Path) -> tuple[int, int]:
    """Resident and proportional bytes of a service that has answered everything once."""
    with Service.start(folder, VAULT=str(vault)) as service:
        async with engines.ours_by_http(service, service.token("bench")) as engine:
            await warm(engine)
            for _ in range(2):
                for tool, arguments in QUESTIONS:
                    await _asked(engine.client.call_tool, tool, arguments)
        if visible(vault):
            wait_until(lambda: bool(service.lines("history.committed")), FIRST_COMMIT_WITHIN_S, "no first commit")
        await anyio.sleep(REST_S)
        return resident(service.process.pid)


async def _asked(call: object, tool: str, arguments: object) -> None:
    """A question that may be answered by a refusal: it has looked all the same."""
    assert callable(call)
    text_of(await call(tool, arguments))


def resident(pid: int) -> tuple[int, int]:
    """RSS and PSS of a process, in bytes."""
    told = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    rss, pss = (re.search(rf"^{name}:\s+(\d+) kB", told, re.M) for name in ("Rss", "Pss"))
    assert rss is not None
    assert pss is not None
    return int(rss[1]) * 1024, int(pss[1]) * 1024
