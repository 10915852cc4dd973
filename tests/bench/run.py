"""What every row is given: where to put its results, which peers there are, how often to ask."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mcp_types import CallToolResult

from service.errors import Unavailable
from service.search.query import Query, search
from service.vault.model import Vault
from tests.bench import engines
from tests.bench.engines import Engine, Peers
from tests.bench.model import Figure, Missing, Point, Results, Target, Times
from tests.bench.questions import Questions
from tests.bench.vaults import Measured
from tests.support.rooms import close, room_for, settings_for
from tests.support.service import Service

LOOKS = 60
"""Questions after which a vault counts as looked at."""


@dataclass
class Run:
    """One run of the bench, written to `target` as it goes on.

    `questions` of a vault are shared by its rows, so that none is ever asked twice."""

    results: Results
    scratch: Path
    peers: Peers
    rounds: int
    is_quick: bool
    target: Path
    asked: dict[str, Questions]

    def questions(self, vault: Measured) -> Questions:
        if vault.name not in self.asked:
            self.asked[vault.name] = Questions(vault)
        return self.asked[vault.name]

    # -- telling -------------------------------------------------------------------------------------------------------

    def tell(self, figure: Figure) -> None:
        """Keep a figure, and print it."""
        self.results.figures.append(figure)
        target = f"{figure.value:9.3f} {figure.measure:5} {figure.target or ''!s:>10}  {figure.verdict}"
        print(
            f"  {figure.what[:52]:52} {_shown(figure.ours, figure.unit)} {_shown(figure.other, figure.unit)} {target}",
            flush=True,
        )

    def compare(
        self,
        row: str,
        vault: str,
        what: str,
        ours: Sequence[float],
        other: Sequence[float],
        against: str,
        target: Target | None,
        *,
        is_speed_up: bool = False,
    ) -> None:
        """The ratio of two medians: ours to the other's; for a speed-up the other's to ours."""
        mine, others = Times.of(ours), Times.of(other)
        ratio = others.p50 / mine.p50 if is_speed_up else mine.p50 / others.p50
        self.tell(Figure(row, vault, what, ratio, target, ours=mine, other=others, against=against))

    def bound(
        self, row: str, vault: str, what: str, ours: Sequence[float], target: Target, *, is_aimed: bool = True
    ) -> None:
        """A bound of the median itself."""
        mine = Times.of(ours)
        self.tell(Figure(row, vault, what, mine.p50, target if is_aimed else None, unit=target.unit, ours=mine))

    def write(self) -> None:
        """Write down what was found until now."""
        text = json.dumps(self.results.as_json(), indent=1, ensure_ascii=False)
        self.target.write_text(text + "\n", encoding="utf-8")

    def miss(self, row: str, vault: str, why: str) -> None:
        self.results.missing.append(Missing(row, vault, why))
        print(f"  could not be measured: {why}", flush=True)

    def point(self, engine: str, vault: Measured, times: Sequence[float]) -> None:
        if times:
            middle = Times.of(times)
            self.results.points.append(Point(engine, vault.name, vault.notes, vault.size_bytes, middle.p50, middle.n))

    # -- who answers -----------------------------------------------------------------------------------------------

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A folder for a state."""
        made = Path(tempfile.mkdtemp(dir=self.scratch))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)

    @contextmanager
    def service(self, vault: Path, **settings: str) -> Iterator[Service]:
        """A running service on a vault, with a state of its own; no commit comes in between."""
        quiet = {name: value for name, value in engines.QUIET.items() if name != "LOG_LEVEL"}
        with self.folder() as folder, Service.start(folder, **{**quiet, **settings, "VAULT": str(vault)}) as service:
            yield service

    @asynccontextmanager
    async def stdio(self, vault: Measured) -> AsyncIterator[Engine]:
        with self.folder() as state:
            async with engines.ours_by_stdio(vault.folder, state) as engine:
                await warm(engine)
                yield engine

    @asynccontextmanager
    async def mcpvault(self, vault: Measured, row: str) -> AsyncIterator[Engine | None]:
        if self.peers.why:
            self.miss(row, vault.name, self.peers.why)
            yield None
            return
        async with self.peers.running(engines.MCPVAULT, vault.folder) as engine:
            yield engine


async def warm(engine: Engine) -> None:
    """Have a server of ours look at the whole vault, however long that takes: what it could not do in one call, it goes
    on with in the next, until nothing more is left out than in the call before."""
    before = None
    for number in range(LOOKS):
        result = await engine.client.call_tool("search_notes", {"query": f"warm up {number}"})
        skipped = (result.structured_content or {}).get("skipped") if isinstance(result, CallToolResult) else None
        if skipped is not None and skipped in (0, before):
            return
        before = skipped


@contextmanager
def in_process(run: Run, vault: Measured) -> Iterator[Vault]:
    """The vault in this process, looked at as by `warm`, without commits."""
    with run.folder() as folder:
        room = room_for(settings_for(folder, VAULT=str(vault.folder)))
        before = None
        for number in range(LOOKS):
            with suppress(Unavailable):
                skipped = search(room.vault, Query(f"warm up {number}")).skipped
                if skipped in (0, before):
                    break
                before = skipped
        yield room.vault
        close(room)


def _shown(times: Times | None, unit: str) -> str:
    return f"{times.p50:9.2f} {times.p95:9.2f} {unit:3}" if times else f"{'':23}"
