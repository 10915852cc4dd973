"""A word is hidden in a note in every way there is; no answer of any tool and no line of the log ever holds it.

guards.md 6, 57; the issue: the output guard in every channel that carries note text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from service.store.files import version_of
from service.tools.catalogue import SPECS
from tests.support.rooms import ALL_TOOLSETS
from tests.support.service import ERAS, Service, environment, text_of
from tests.wire.test_stdio import client_of

pytestmark = pytest.mark.anyio

WORD = "xylograph"
SAID = "quincunx"
"""What the client itself writes: it may be in answers, and never in the log."""
TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in WORD)
UNSEEN = set(TAGS) | set("\u200b\u2060\u00ad\u202e")

HIDING: Mapping[str, str] = {
    "comment": f"pass<!-- {WORD} -->word",
    "long comment": f"<!--\n{WORD}\n\n{WORD}\n-->",
    "processing": f"a <?php {WORD} ?> b",
    "declaration": f"a <!DOCTYPE {WORD}> b",
    "CDATA": f"a <![CDATA[ {WORD} ]]> b",
    "definition": f'[unused]: # "{WORD}"',
    "hidden": f"<div hidden>\n{WORD}\n</div>",
    "style": f'<span style="display:none">{WORD}</span>',
    "tiny": f'<p style="font-size:0">{WORD}</p>',
    "script": f"<script>\n{WORD}\n</script>",
    "template": f"<template>{WORD}</template>",
    "fallback": f"<iframe src='a'>{WORD}</iframe>",
    "tags": f"a{TAGS}b",
    "zero width": "x\u200by\u2060\u200bl\u00ado\u202e",
    "entity": "a&#8203;&#xE0041;b",
    "heading": f"<!--\n# {WORD}\n\n#{WORD} ^{WORD}\n-->",
    "unclosed": f"<!-- {WORD}",
}
"""One of each class; the last hides the rest of its note, and so does not go into the note of all."""

ALL = (
    "# Garden\n\ngarden first\n\n"
    + "\n\n".join(f"{text}\n\ngarden {name}" for name, text in list(HIDING.items())[:-1])
    + "\n"
)


LINKED = (
    f"<!-- [[{WORD}]] [[all]] -->",
    f"<span hidden>[[{WORD}]] [x]({WORD}.md)</span>",
    f'<b style="display:none">![[{WORD}.png]] [[all#{WORD}]]</b>',
    f"[[no{TAGS}where]] [x](all.md#{TAGS}) [[all|{TAGS}]]",
    f'\n\n[x]: # "[[{WORD}]]"',
)
"""Links that nobody sees, and links with letters that nobody sees."""


TASKS = "\n".join(f"- [ ] garden {text} 🔁 every day 📅 2026-03-01" for text in LINKED[:-1]) + "\n"
"""Tasks that hide something; to complete one copies its line."""


def lay_out(vault: Path) -> None:
    (vault / "all.md").write_text(f"---\ntitle: t\u200bitle\n---\n{ALL}", encoding="utf-8")
    (vault / "open.md").write_text(f"garden\n\n{HIDING['unclosed']}", encoding="utf-8")
    (vault / "2026-03-01.md").write_text(f"- 12:00 garden\n\n{HIDING['unclosed']}", encoding="utf-8")
    (vault / f"x{TAGS}.md").write_text("garden\n", encoding="utf-8")
    (vault / "gone.md").write_text(ALL, encoding="utf-8")
    (vault / "tasks.md").write_text(TASKS, encoding="utf-8")
    cards = [
        {"id": f"c{number}", "type": "text", "text": f"[[all]] garden {text}"} for number, text in enumerate(LINKED)
    ]
    cards.append({"id": f"f{TAGS}", "type": "file", "file": f"all{TAGS}.md"})
    (vault / "board.canvas").write_text(json.dumps({"nodes": cards}), encoding="utf-8")
    (vault / "linked.md").write_text("\n\n".join(f"[[all]] garden {text}" for text in LINKED), encoding="utf-8")
    card = {"id": f"x{TAGS}", "type": "text", "text": ALL}
    (vault / "cards.canvas").write_text(
        json.dumps({"nodes": [card, {**card, "text": HIDING["unclosed"]}]}).replace("<", "\\u003c"), encoding="utf-8"
    )
    (vault / "AGENTS.md").write_text(ALL, encoding="utf-8")


def edit(old: str, new: str, **more: object) -> dict[str, object]:
    return {"path": "all.md", "edits": [{"old_string": old, "new_string": new}], **more}


def calls() -> list[tuple[str, dict[str, object]]]:
    """Each tool, the ways it goes well and the ways it fails."""
    return [
        ("read_note", {"path": "all.md"}),
        ("read_note", {"path": "all.md", "start_line": 5, "end_line": 9, "start_column": 3}),
        ("read_notes", {"paths": ["all.md", "open.md", "no.md", f"x{TAGS}.md"]}),
        ("read_note", {"path": f"x{TAGS}.md"}),
        ("search_notes", {"query": "garden", "limit": 50}),
        ("search_notes", {"query": "password"}),
        ("search_notes", {"query": "pass"}),
        ("search_notes", {"query": "a", "limit": 50, "sort_by": "path"}),
        ("search_notes", {"query": "title", "in": "frontmatter"}),
        ("list_notes", {}),
        ("list_recent", {}),
        ("get_vault_tree", {}),
        ("search_notes", {"query": f"password {WORD}", "mode": "ranked"}),
        ("search_notes", {"query": "garden title", "mode": "ranked", "in": "frontmatter"}),
        ("list_directory", {}),
        ("get_vault_stats", {}),
        ("get_notes_info", {"paths": ["all.md", "garden.md", f"x{TAGS}.md"]}),
        ("get_note_outline", {"path": "all.md"}),
        ("list_tags", {}),
        ("list_tags", {"path": "all.md"}),
        ("get_frontmatter", {"path": "all.md"}),
        ("resolve_link", {"link": "[[all#garden first]]", "from_path": "linked.md"}),
        ("resolve_link", {"link": f"[[{WORD}]]"[:6]}),
        ("resolve_link", {"link": f"[[all{TAGS}]]"}),
        ("get_links", {"path": "all.md"}),
        ("get_links", {"path": "linked.md"}),
        ("get_links", {"path": "board.canvas"}),
        ("find_broken_links", {}),
        ("update_frontmatter", {"path": "all.md", "set": {"said": SAID, f"x{TAGS}": 1}}),
        ("update_frontmatter", {"path": "all.md", "set": {"title": SAID, "said": f"a{TAGS}b"}}),
        ("update_frontmatter", {"path": "all.md", "set": {"said": f"<!-- {SAID} -->"}}),
        ("update_tags", {"path": "all.md", "add": [SAID]}),
        ("update_tags", {"path": "open.md", "add": [SAID], "remove": [WORD]}),
        ("write_note", {"path": "all.md", "content": SAID}),
        ("write_note", {"path": "2026-03-01.md", "content": SAID, "mode": "append"}),
        ("write_note", {"path": "2026-03-01.md", "content": SAID, "mode": "prepend", "frontmatter": {"a": SAID}}),
        ("write_note", {"path": "fresh.md", "content": f"<!-- {SAID} -->"}),
        ("append_to_section", {"path": "all.md", "heading": "Nope", "content": SAID}),
        ("append_to_section", {"path": "all.md", "heading": WORD.swapcase(), "content": SAID}),
        ("append_to_section", {"path": "all.md", "heading": "Garden", "content": f"<!-- {SAID}"}),
        ("append_to_section", {"path": "all.md", "heading": "Garden", "content": SAID}),
        ("edit_note", edit("garden first", f"garden {SAID}", dry_run=True)),
        ("edit_note", edit("password", SAID)),
        ("edit_note", edit(f"<!-- {WORD[:4]}", "x")),
        ("edit_note", edit("garden first", f"<!-- {SAID}")),
        ("edit_note", edit("garden comment", f"garden {SAID}")),
        ("append_to_note", {"path": "all.md", "content": f"more {SAID}"}),
        ("append_to_note", {"path": "open.md", "content": f"swallowed {SAID}"}),
        ("get_daily_note", {"date": "2026-03-01"}),
        ("get_daily_note", {"date": "2026-03-02"}),
        ("create_daily_note", {"date": "2026-03-01"}),
        ("create_daily_note", {"date": "2026-03-02"}),
        ("append_daily_note", {"text": SAID, "date": "2026-03-01"}),
        ("create_note", {"path": "all.md", "content": SAID}),
        ("search", {"query": f"password {WORD}"}),
        ("fetch", {"id": "all.md"}),
        ("fetch", {"id": "open.md"}),
        ("fetch", {"id": "cards.canvas"}),
        ("read_note", {"path": "cards.canvas"}),
        ("move_note", {"from": "all.md", "to": "folder/every.md", "dry_run": True}),
        ("move_note", {"from": "all.md", "to": "folder/every.md"}),
        ("move_note", {"from": "folder", "to": "elsewhere", "folder": True}),
        ("move_note", {"from": f"x{TAGS}.md", "to": "y.md"}),
        (
            "move_file",
            {
                "from": "elsewhere/every.md",
                "to": "all.md",
                "confirm_from": "elsewhere/every.md",
                "confirm_to": "all.md",
                "overwrite": True,
            },
        ),
        ("list_tasks", {"limit": 100}),
        ("complete_task", {"path": "tasks.md", "line": 1, "expected_hash": version_of(TASKS.encode())}),
        ("complete_task", {"path": "all.md", "line": 6, "expected_hash": "abcd"}),
        ("postpone_task", {"path": "tasks.md", "line": 2, "expected_hash": "abcd", "new_date": "2026-03-01"}),
        ("list_changes", {}),
        ("note_history", {"path": "gone.md"}),
        ("read_note_version", {"path": "all.md", "revision": "HEAD"}),
        ("read_note_version", {"path": "gone.md"}),
        ("diff_note", {"path": "all.md", "from": "HEAD"}),
        ("diff_note", {"path": "all.md", "from": "HEAD", "words": True}),
        ("diff_note", {"path": "open.md", "from": "now", "to": "HEAD"}),
        ("delete_note", {"path": "gone.md"}),
        ("undelete_note", {"path": "gone.md"}),
        ("undelete_note", {"path": "gone.md"}),
        ("delete_note", {"path": "gone.md"}),
        ("restore_note", {"path": "gone.md"}),
        ("read_note", {"path": "gone.md"}),
        ("read_note", {"path": "garden.md"}),
    ]


async def answers(client: Client) -> dict[str, str]:
    """Everything that tools and resources answer, by what was asked."""
    given: dict[str, str] = {}
    for number, (tool, arguments) in enumerate(calls()):
        result = await client.call_tool(tool, arguments)
        given[f"{number} {tool}"] = result.model_dump_json()
    given["search"] = text_of(await client.call_tool("search_notes", {"query": "password"}))
    given["resources"] = (await client.list_resources()).model_dump_json()
    given["guide"] = (await client.read_resource("strongroom://guide")).model_dump_json()
    given["canvas"] = (await client.read_resource("note://cards.canvas")).model_dump_json()
    for name in ("all", "open", "2026-03-01"):
        given[f"resource {name}"] = (await client.read_resource(f"note://{name}.md")).model_dump_json()
    with pytest.raises(MCPError) as caught:
        await client.read_resource("note://garden.md")
    given["no resource"] = str(caught.value)
    guesses = [text_of(await client.call_tool("search_notes", {"query": query})) for query in (WORD, WORD[2:], TAGS)]
    guesses.append(text_of(await client.call_tool("edit_note", edit(WORD, "x"))))
    given["guesses"] = "\n".join(guesses)
    assert '"total":0' in guesses[0]
    assert '"total":0' in guesses[1]
    assert guesses[3].startswith("NO_MATCH: ")
    return given


def check(given: Mapping[str, str]) -> None:
    for what, answer in given.items():
        assert WORD not in answer, what
        assert not UNSEEN & set(answer), what
        assert not any(repr(char).strip("'\\") in answer for char in UNSEEN), what
    assert '"line":' in given["search"]  # text that only a comment parts is found
    assert "HIDDEN_CONTENT" in "".join(given.values())


def test_every_tool_is_called() -> None:
    """A new tool must be sent the hidden word too."""
    assert {tool for tool, _ in calls()} == {spec.name for spec in SPECS}


@pytest.mark.parametrize("era", ERAS)
async def test_no_answer_and_no_line_of_the_log_holds_what_is_hidden(tmp_path: Path, era: str) -> None:
    """Over HTTP, with the log at its most talkative."""
    with Service.start(tmp_path, LOG_LEVEL="debug", TOOLSETS=ALL_TOOLSETS) as service:
        lay_out(service.vault)
        assert service.cli("commit").returncode == 0
        async with service.client(service.token("laptop"), era) as client:
            check(await answers(client))
        service.stop()
        said = service.log + service.errors
    assert len(said.splitlines()) > len(calls())
    assert WORD not in said
    assert SAID not in said
    assert not UNSEEN & set(said)
    hidden = (service.vault / "all.md").read_text(encoding="utf-8")
    assert all(text in hidden for name, text in list(HIDING.items())[1:-1])


async def test_so_it_is_over_stdio(tmp_path: Path) -> None:
    """The same server without HTTP."""
    environ = environment(tmp_path, TOOLSETS=ALL_TOOLSETS)
    lay_out(tmp_path / "vault")
    async with client_of(environ) as client:
        check(await answers(client))
