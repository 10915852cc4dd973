"""The literal engine alone, in this process, against one pass over the same memory.

The pass looks for a byte that no text holds, which is libc's `memchr`: it reads every byte once and does nothing else.
Ours is all of a search in process: the look for changes, the scan, the answer.
"""

from __future__ import annotations

import time

from service.search.query import Query, search
from tests.bench.model import Target
from tests.bench.run import Run
from tests.bench.vaults import Measured
from tests.support.rooms import close, room_for, settings_for

TARGET = Target(1.5)
ABSENT = b"\xfe"


async def measure(run: Run, vault: Measured) -> None:
    with run.folder() as folder:
        room = room_for(settings_for(folder, VAULT=str(vault.folder)))
        for _ in range(60):
            if not search(room.vault, Query("warm up")).skipped:
                break
        for kind in ("rare", "nothing"):
            ours: list[float] = []
            passes: list[float] = []
            segments = room.vault.picture.now().segments
            for words in run.questions(vault).some(kind, 3 * run.rounds):
                began = time.process_time()
                for segment in segments:
                    segment.data.find(ABSENT)
                middle = time.process_time()
                search(room.vault, Query(words))
                passes.append(1000 * (middle - began))
                ours.append(1000 * (time.process_time() - middle))
            run.compare("engine", vault.name, f"in process, {kind}", ours, passes, "one pass over the memory", TARGET)
        close(room)
