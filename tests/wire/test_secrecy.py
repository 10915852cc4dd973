"""A sentence is planted wherever a client or a note can put one, and every line of a whole run is searched for it.

The issue; style.md, Logs; auth.md attack lines 84 and 88.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from tests.support.service import ERAS, Service

WORDS = ("xylograph", "quincunx")
SENTENCE = f"the {WORDS[0]} hides in the {WORDS[1]}"


@pytest.mark.anyio
async def test_no_line_of_a_whole_run_holds_what_a_note_or_a_client_said(tmp_path: Path) -> None:
    """At debug level, on stdout and on stderr, in both eras, with tools that fail in the sentence's own words."""
    with Service.start(tmp_path, module="tests.support.odd_tools", LOG_LEVEL="debug") as service:
        (service.vault / "a.md").write_text(f"# {SENTENCE}\n\n{SENTENCE}\n")
        (service.vault / "bad.md").write_bytes(SENTENCE.encode() + b"\xff\xfe")
        secrets = [service.token("laptop"), service.token("revoked")]
        service.cli_json("tokens", "revoke", "revoked")
        for era in ERAS:
            async with service.client(secrets[0], era) as client:
                await client.call_tool("search_notes", {"query": SENTENCE})
                await client.call_tool("search_notes", {"query": WORDS[0], "limit": SENTENCE})
                await client.call_tool("read_note", {"path": "a.md"})
                await client.call_tool("append_to_note", {"path": "bad.md", "content": SENTENCE})
                await client.call_tool("create_note", {"path": f"{era}.md", "content": SENTENCE})
                await client.call_tool("create_note", {"path": f"{era}.md", "content": SENTENCE})
                edit = {"old_string": SENTENCE, "new_string": f"{SENTENCE}!"}
                await client.call_tool("edit_note", {"path": f"{era}.md", "edits": [edit, {"old_string": SENTENCE}]})
                await client.call_tool("edit_note", {"path": f"{era}.md", "edits": [{**edit, "old_string": "no such"}]})
                await client.call_tool("append_daily_note", {"text": SENTENCE})
                await client.call_tool("say_the_planted_sentence", {"sentence": SENTENCE})
                await client.call_tool(SENTENCE, {SENTENCE: SENTENCE})
                await client.call_tool("read_note", {"path": SENTENCE, SENTENCE: 1})
                await client.list_resources()
                await client.read_resource("note://a.md")
                with pytest.raises(MCPError):
                    await client.read_resource(f"note://{SENTENCE}.md")
        _say_it_by_hand(service, secrets)
        assert service.ask("/readyz").status == 200
        service.stop()
        said = service.log + service.errors
    assert len(said.splitlines()) > 30
    for word in WORDS:
        assert word not in said.lower()
    for secret in secrets:
        assert secret not in said
        assert secret[4:20] not in said


def _say_it_by_hand(service: Service, secrets: list[str]) -> None:
    """Wherever a client that is no client could put it."""
    message = {"jsonrpc": "2.0", "id": SENTENCE, "method": "tools/list", "params": {SENTENCE: SENTENCE}}
    odd = [
        json.dumps(message),
        json.dumps({**message, "method": SENTENCE}),
        json.dumps({**message, "jsonrpc": SENTENCE}),
        json.dumps({"jsonrpc": "2.0", "method": f"notifications/{SENTENCE}", "params": SENTENCE}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": SENTENCE}}),
        json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"text": SENTENCE}}),
        json.dumps([message]),
        json.dumps({**message, "method": "initialize", "params": {"protocolVersion": SENTENCE}}),
        f'{{"jsonrpc": "{SENTENCE}',
        SENTENCE,
    ]
    for body in odd:
        for headers in (
            [],
            [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")],
            [("MCP-Protocol-Version", SENTENCE), ("Mcp-Method", SENTENCE), ("Mcp-Name", SENTENCE)],
            [("Mcp-Session-Id", SENTENCE), ("Last-Event-ID", SENTENCE), ("User-Agent", SENTENCE)],
        ):
            assert service.post(secrets[0], body.encode(), *headers).status < 500
    service.post(secrets[1], b"{}")
    service.ask(f"/mcp?token={secrets[0]}&q={WORDS[0]}", [("Authorization", f"Bearer {SENTENCE}")], method="POST")
    service.ask(f"/{WORDS[0]}", [("Host", WORDS[1]), ("Origin", f"https://{WORDS[0]}.example"), ("Referer", SENTENCE)])
    service.ask("/mcp", [("Host", f"{WORDS[1]}.example")])
    service.ask("/mcp", [("Origin", f"https://{WORDS[1]}.example")])
    service.send_raw(f"{SENTENCE}\r\n\r\n".encode())
    service.send_raw(f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{WORDS[0]} : {SENTENCE}\r\n\r\n".encode())
