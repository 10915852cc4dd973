"""The plot of a run, as SVG of a few lines: how long a search takes against how many notes there are, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from tests.bench.model import Point

WIDTH, HEIGHT = 860, 520
LEFT, RIGHT, TOP, BOTTOM = 84, 190, 56, 64
COLOURS: Final = {
    "ours, stdio": "#0b6e4f",
    "ours, HTTP 2026-07-28": "#2fa37c",
    "ripgrep": "#6b4fa0",
    "@bitbonsai/mcpvault": "#c2571a",
    "obsidian-mcp": "#a3243b",
}
"""Engines that are drawn, and in what; the older protocol over HTTP would lie on the newer one's line."""

NAMES: Final = {
    "ours, stdio": "Strongroom, stdio",
    "ours, HTTP 2026-07-28": "Strongroom, HTTP",
    "ripgrep": "ripgrep (rg -i -F -l)",
    "@bitbonsai/mcpvault": "MCPVault",
    "obsidian-mcp": "obsidian-mcp",
}
LINE_PX: Final = 17


@dataclass(frozen=True, slots=True)
class _Axes:
    """From values to pixels. Limits are powers of ten."""

    notes: tuple[int, int]
    ms: tuple[int, int]

    def x(self, notes: float) -> float:
        low, high = self.notes
        return LEFT + (math.log10(notes) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(self, ms: float) -> float:
        low, high = self.ms
        return HEIGHT - BOTTOM - (math.log10(ms) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)


def draw(points: Sequence[Point]) -> str:
    """The SVG. There must be a point."""
    shown = [point for point in points if point.engine in COLOURS]
    axes = _Axes(_decades([point.notes for point in shown]), _decades([point.ms for point in shown]))
    body = [*_grid(axes), *_lines(axes, shown)]
    title = "One search, against the size of the vault"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            'font-family="system-ui, sans-serif" font-size="14">',
            f"<title>{title}</title>",
            f"<desc>{escape(_told(shown))}</desc>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
            _text(LEFT, 30, f"{title}: the whole call, median of rare words and none", size=17),
            *body,
            "</svg>",
            "",
        ]
    )


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _grid(axes: _Axes) -> list[str]:
    right, floor = WIDTH - RIGHT, HEIGHT - BOTTOM
    drawn = []
    for power in range(axes.notes[0], axes.notes[1] + 1):
        x = axes.x(10**power)
        drawn.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{floor}" stroke="#d5d5d5"/>')
        drawn.append(_text(x, floor + 22, f"{10**power:,}", anchor="middle"))
    for power in range(axes.ms[0], axes.ms[1] + 1):
        y = axes.y(10**power)
        drawn.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#d5d5d5"/>')
        drawn.append(_text(LEFT - 8, y + 5, _time(10**power), anchor="end"))
    drawn.append(_text((LEFT + right) / 2, HEIGHT - 16, "notes in the vault", anchor="middle"))
    middle = (TOP + floor) / 2
    turned = f' transform="rotate(-90 20 {middle:.1f})"'
    return [*drawn, _text(20, middle, "time of one call, in ms or s", anchor="middle", more=turned)]


def _lines(axes: _Axes, points: Sequence[Point]) -> list[str]:
    """Each engine's line, with its name where it ends; names that would lie on each other are moved apart."""
    drawn, ends = [], []
    for engine, colour in COLOURS.items():
        own = sorted((point for point in points if point.engine == engine), key=lambda point: point.notes)
        if not own:
            continue
        way = " ".join(f"{axes.x(point.notes):.1f},{axes.y(point.ms):.1f}" for point in own)
        drawn.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        for point in own:
            told = f"<title>{escape(_one(point))}</title>"
            drawn.append(
                f'<circle cx="{axes.x(point.notes):.1f}" cy="{axes.y(point.ms):.1f}" r="4" fill="{colour}">{told}</circle>'
            )
        ends.append([axes.y(own[-1].ms) + 5, axes.x(own[-1].notes) + 10, engine])
    last = -math.inf
    for end in sorted(ends, key=lambda end: float(end[0])):
        last = max(float(end[0]), last + LINE_PX)
        drawn.append(_text(float(end[1]), last, NAMES[str(end[2])], colour=COLOURS[str(end[2])]))
    return drawn


def _text(
    x: float, y: float, words: str, *, anchor: str = "start", size: int = 14, colour: str = "#222222", more: str = ""
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{more}>'
        f"{escape(words)}</text>"
    )


def _time(ms: float) -> str:
    return f"{ms:g} ms" if ms < 1000 else f"{ms / 1000:g} s"


def _one(point: Point) -> str:
    return f"{NAMES[point.engine]}, {point.notes:,} notes: {point.ms:.3g} ms"


def _told(points: Sequence[Point]) -> str:
    """The same in words, for who does not see it."""
    return "; ".join(_one(point) for point in points)
