"""After every tool that writes, the disk holds what the answer says."""

from __future__ import annotations

import hashlib
import json

import pytest

from service.tools.catalogue import SPECS
from tests.support.calling import calling
from tests.support.desk import Desk
from tests.support.disk import texts
from tests.wire.test_tools import CALLS

pytestmark = pytest.mark.anyio

WRITES = {spec.name for spec in SPECS if spec.writes}


async def test_success_means_that_a_file_changed_to_the_version_that_is_told(desk: Desk) -> None:
    """Complaint 28, for every tool that writes, one after the other as a client would: the hash in the reply is the disk's."""
    desk.put({"old.md": "from before\n"})
    desk.room.history.commit("start", may_use_child=False)
    looked_at = set()
    async with calling(desk.room, SPECS) as caller:
        for tool, arguments, _ in CALLS:
            before = dict(texts(desk.folder))
            facts = (
                await caller.call(tool, **json.loads(json.dumps(arguments).replace("{era}", "era")))
            ).structured_content
            after = dict(texts(desk.folder))
            if tool not in WRITES or arguments.get("dry_run"):
                assert after == before, tool
                continue
            assert after != before, tool
            assert facts is not None, tool
            if not facts.get("version"):  # a folder was moved
                assert arguments.get("folder"), tool
                continue
            named = [facts[name] for name in ("trashed_to", "to", "path") if facts.get(name)]
            found = next((after[name] for name in named if name in after), None)
            assert found is not None, f"{tool}: {facts}"
            assert facts["version"] == hashlib.sha256(found).hexdigest()[:12], tool
            looked_at.add(tool)
    assert looked_at == WRITES
