"""What the container writes to its log over a whole life: JSON lines, and nothing that was in a note or is a key."""

from __future__ import annotations

import json

from tests.container.conftest import Start
from tests.support.appliance import Folders

SECRET_SENTENCE = "the heron nests behind the third lock"


def test_logs_are_json_and_hold_no_note_text_title_query_or_token(start: Start, folders: Folders) -> None:
    """issue 2: logs are JSON and hold no note text; a secret sentence is planted and looked for in every line."""
    folders.write("Seen.md", f"# {SECRET_SENTENCE}\n\n{SECRET_SENTENCE}\n".encode())
    appliance = start(env={"STRONGROOM_LOG_LEVEL": "debug"}).wait_until_healthy()
    token = appliance.token()
    appliance.call(token, "search_notes", query=SECRET_SENTENCE)
    appliance.call(token, "read_note", path="Seen.md")
    appliance.call(token, "create_note", path="New.md", content=SECRET_SENTENCE)
    appliance.call(token, "append_daily_note", text=SECRET_SENTENCE)
    appliance.call(token, "edit_note", path="New.md", edits=[{"old_string": SECRET_SENTENCE, "new_string": "x"}])
    appliance.cli("commit")
    appliance.status_of(f"/mcp?query={SECRET_SENTENCE.replace(' ', '+')}", {"Authorization": f"Bearer {token}x"})
    appliance.stop()

    lines = [json.loads(line) for line in appliance.log().splitlines() if line]
    called = [line["tool"] for line in lines if line.get("event") == "tool.called"]
    assert called == ["search_notes", "read_note", "create_note", "append_daily_note", "edit_note"]
    everything = appliance.log()
    assert [
        word for word in (SECRET_SENTENCE, SECRET_SENTENCE.replace(" ", "+"), "heron", token) if word in everything
    ] == []
