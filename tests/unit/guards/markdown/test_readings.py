"""The other ways to read a text, where renderers differ over what is code."""

from __future__ import annotations

import pytest

from service.guards.markdown import Unseen, document, readings

CERTAIN = {
    "no mark at all": "a\r\nb",
    "a comment outside code": "%% a %%\n\n```\n<!-- -->\n```",
    "a comment's marks in code alone": "```\n%% a\n```\n`%%`",
    "a comment that closed before": "%% a %%\n\n```\n%% b\n```",
    "variables in code": "`$a` and `$b`",
    "a price before code": "$5 and `a`",
    "a table with code in a cell": "|`a`|b|\n|-|-|",
    "a bar in a table's code, escaped": "|`a\\|b`|c|\n|-|-|",
    "code behind a definition": "[a]: u\n`b`",
    "code that goes on in one quote": "> `b\n    c`",
    "a bar in code outside a table": "a `b | c`",
}


@pytest.mark.parametrize("name", CERTAIN)
def test_a_text_without_doubt_is_read_once(name: str) -> None:
    """Real notes seldom leave a doubt, and are not to be scanned twice."""
    assert readings(CERTAIN[name]) == (CERTAIN[name],)


DOUBTFUL = {
    "a comment that closes in a code span": "%% ` %% <!-- a --> `",
    "a comment that closes in a fence": "%%\n\n```\n%%\n<!-- a -->\n```",
    "a comment that closes in a later fence": "%%\n\n```\n```\n\n```\n%%\n```\n\n```\n<!-- a -->\n```",
    "a comment that closes in a fence in a quote": "> %%\n> ~~~\n> %%\n> <!-- a -->",
    "a comment that closes in indented code": "%%\n\n    %% <!-- a -->",
    "marks of a comment that some do not count": "<b c='%%'> %%\n\n```\n%%\n<!-- a -->\n```",
    "an escaped mark of a comment": "\\%% %%\n\n```\n%%\n<!-- a -->\n```",
    "a block of maths that closes in a code span": "$$ ` $$ <!-- a --> `",
    "maths that closes in a code span": "$a`$ <!-- a --> `",
    "code behind doubtful code": "$a`$` `<!-- a -->` `",
    "code over two cells": "| ` | <!-- a --> ` |\n|---|---|",
    "code over two rows": "| ` |\n|---|\n| <!-- a --> ` |",
    "code over two rows below what may be a heading": "| a\n---\n` |\n<!-- a --> ` |",
    "code that may begin in code behind a definition": "[a]: u\n    ` x\n<!-- a --> `",
    "code that goes on lazily in two quotes": ">> `<!-- a -->\n    - `",
    "a carriage return that may end a line": "~~~\r~~~\n<!-- a -->",
    "a carriage return that may end none": "    a\r```\n<!-- a -->\n```",
}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_what_one_renderer_hides_is_found_in_some_reading(name: str) -> None:
    """guards.md 4.1: when in doubt it is not code. Every position is one of the raw text."""
    text = DOUBTFUL[name]
    assert _hidden(text) != set()
    assert all(len(reading) == len(text) for reading in readings(text))


def _hidden(text: str) -> set[int]:
    """Where the comment of a text is hidden, by any reading."""
    found = set()
    for reading in readings(text):
        for block, pieces in document(reading):
            if block.kind.value == "html":
                found.add(block.start)
            found |= {piece.start for piece in pieces if isinstance(piece, Unseen)}
    return found
