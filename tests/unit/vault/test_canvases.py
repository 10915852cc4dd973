"""How a canvas reads: an outline, each piece of it guarded."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from service.guards import outgoing, paths
from service.guards.outgoing import Hidden
from service.vault import canvases, notes
from tests.support.desk import Desk


def board(*texts: str, **more: object) -> str:
    nodes = [{"id": f"n{number}", "type": "text", "text": text} for number, text in enumerate(texts)]
    return json.dumps({"nodes": nodes, "edges": [], **more})


def test_what_one_card_hides_does_not_swallow_the_next() -> None:
    """guards.md 6, 57; each card is a note of its own."""
    view = canvases.of_canvas(board("<!-- never closed\nsecret", "b"))
    assert view is not None
    assert view.text == "canvas: 2 cards, 0 edges\ncard n0 (text)\n\n\ncard n1 (text)\n  b\n"
    assert view.counts == {Hidden.COMMENT: 1}


@pytest.mark.parametrize("escaped", ["\\u003c!-- x --\\u003e", "\\u200b\\u2060", "\\ud83d\\ude00\\udb40\\udc41"])
def test_what_json_writes_with_escapes_is_guarded_as_what_it_means(escaped: str) -> None:
    """A guard that looked at the file would see no markup there."""
    view = canvases.of_canvas('{"nodes":[{"id":"n","type":"text","text":"a' + escaped + 'b"}]}')
    assert view is not None
    assert sum(view.counts.values()) > 0
    assert not {"x", "\u200b", "\u2060", "\U000e0041"} & set(view.text.split("\n")[2])


def test_names_of_cards_and_labels_of_edges_are_guarded_too() -> None:
    """guards.md 6, 57: every channel."""
    edges = [{"fromNode": "n\u200b", "toNode": "m", "label": "l <!-- x --> l"}]
    view = canvases.of_canvas(board("a", edges=edges))
    assert view is not None
    assert view.text.endswith("edge n -> m: l l\n")


def test_looking_at_a_canvas_has_one_budget_for_all_its_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """guards.md 6, 60: then nothing is shown, and why is told."""
    monkeypatch.setattr(outgoing, "BUDGET_S", -1.0)
    view = canvases.of_canvas(board("a <!-- x -->", "b"))
    assert view is not None
    assert (view.text, bool(view.withheld)) == ("", True)


def test_ten_thousand_cards_are_looked_at_in_time() -> None:
    """Linear: a canvas may be as long as a note."""
    began = time.thread_time()
    view = canvases.of_canvas(board(*["some **words** [[Link]]"] * 10_000))
    assert view is not None
    assert view.text.count("\n") == 20_001
    assert time.thread_time() - began < 20


@pytest.mark.parametrize("raw", ["not JSON", "[]", '{"nodes": 1}', '{"nodes": ['])
def test_what_is_no_canvas_reads_as_the_text_it_is(desk: Desk, raw: str) -> None:
    """Our decision: a broken file can still be looked at."""
    desk.put({"x.canvas": raw})
    note = notes.read(desk.vault, paths.note("x.canvas"))
    assert (note.view.text, note.is_outline) == (raw, False)


def test_a_canvas_that_may_be_written_reads_as_it_is_edited_unless_it_hides_something(desk: Desk) -> None:
    """Edits match what is read; what JSON hides by escapes stays hidden."""
    vault = replace(desk.vault, write_types=(".canvas",))
    desk.put({"open.canvas": board("a"), "hiding.canvas": board("a <!-- secret -->").replace("<", "\\u003c")})
    note = notes.read(vault, paths.note("open.canvas"))
    assert (note.view.text, note.is_outline) == (board("a"), False)
    note = notes.read(vault, paths.note("hiding.canvas"))
    assert (note.is_outline, "secret" in note.view.text) == (True, False)
