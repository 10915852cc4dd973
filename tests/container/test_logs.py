"""What the container writes to its log over a whole life: JSON lines, and nothing that was in a note or is a key."""

from __future__ import annotations

import json

from service.store.files import version_of
from tests.container.conftest import Start
from tests.support.appliance import Folders, text_of, within

SECRET_SENTENCE = "the heron nests behind the third lock"


def test_logs_are_json_and_hold_no_note_text_title_query_or_token(start: Start, folders: Folders) -> None:
    """issue 2: logs are JSON and hold no note text; a secret sentence is planted and looked for in every line."""
    folders.write("Seen.md", f"# {SECRET_SENTENCE}\n\n{SECRET_SENTENCE} [[{SECRET_SENTENCE}]]\n".encode())
    folders.write("Do.md", f"- [ ] {SECRET_SENTENCE}\n".encode())
    everything_on = "notes,daily,tasks,metadata,links,history,files,connector"
    appliance = start(env={"STRONGROOM_LOG_LEVEL": "debug", "STRONGROOM_TOOLSETS": everything_on}).wait_until_healthy()
    token = appliance.token()
    called: list[str] = []

    async def use() -> None:
        async with appliance.client(token) as client:

            async def call(tool: str, **arguments: object) -> None:
                called.append(tool)
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, f"{tool}: {text_of(result)}"

            await call("search_notes", query=SECRET_SENTENCE)
            await call("search", query=SECRET_SENTENCE)
            await call("fetch", id="Seen.md")
            await call("read_note", path="Seen.md")
            await call("create_note", path="New.md", content=SECRET_SENTENCE)
            await call("append_daily_note", text=SECRET_SENTENCE)
            await call("edit_note", path="New.md", edits=[{"old_string": SECRET_SENTENCE, "new_string": "x"}])
            await call("append_to_section", path="Seen.md", heading=SECRET_SENTENCE, content=SECRET_SENTENCE)
            await call("update_frontmatter", path="Seen.md", set={SECRET_SENTENCE: SECRET_SENTENCE})
            await call("list_tasks")
            await call("complete_task", path="Do.md", line=1, expected_hash=version_of(folders.read("Do.md")))
            await call("find_broken_links")
            await call("move_note", **{"from": "New.md", "to": f"{SECRET_SENTENCE}.md"})
            await call("resolve_link", link=f"[[{SECRET_SENTENCE}]]")
            await call("get_links", path=f"{SECRET_SENTENCE}.md")

    within(60, use)
    appliance.cli("commit")
    appliance.status_of(f"/mcp?query={SECRET_SENTENCE.replace(' ', '+')}", {"Authorization": f"Bearer {token}x"})
    appliance.stop()

    lines = [json.loads(line) for line in appliance.log().splitlines() if line]
    assert [line["tool"] for line in lines if line.get("event") == "tool.called"] == called
    everything = appliance.log()
    assert [
        word for word in (SECRET_SENTENCE, SECRET_SENTENCE.replace(" ", "+"), "heron", token) if word in everything
    ] == []
