"""How a file reads as a note: its text through the output guard; of a canvas an outline of its cards and edges.

Each piece of a canvas is a note of its own to the guard, since the escapes of JSON would hide markup from it.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Final

from service.guards import outgoing
from service.guards.outgoing import Hidden, View
from service.vault.parts import canvas

CANVAS_SUFFIX: Final = ".canvas"


def of_canvas(raw: str) -> View | None:
    """The view of a canvas's outline; None when `raw` is no canvas. `View.raw` is the outline as it would be unguarded.

    Linear; when looking takes too long, all of it is withheld.
    """
    found = canvas.of(raw)
    if found is None:
        return None
    deadline = time.thread_time() + outgoing.BUDGET_S + outgoing.BUDGET_S_PER_CHAR * len(raw)
    counts: Counter[Hidden] = Counter()
    withheld: list[str] = []

    def shown(piece: str) -> str:
        view = outgoing.view(piece, budget_s=max(0.0, deadline - time.thread_time()))
        counts.update(view.counts)
        if view.withheld:
            withheld.append(view.withheld)
        return view.text

    outline = canvas.outline(found, shown)
    if withheld:
        return View(outline, "", withheld=withheld[0])
    whole = outgoing.view(outline)  # what only the pieces together hide
    return View(outline, whole.text, whole.removed, dict(counts + Counter(whole.counts)), whole.withheld)
