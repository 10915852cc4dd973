"""`strongroom auth lockdown` beside a running service: whatever was open closes, whatever was known is unknown."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from mcp.client.subscriptions import SubscriptionLost

from tests.support.service import Service

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.mark.anyio
async def test_every_stream_closes_within_a_second_and_no_token_counts_any_more(tmp_path: Path) -> None:
    """Issue 5, decisions.md 20: the clock starts when the command has committed."""
    with Service.start(tmp_path) as service:
        tokens = [service.token(name) for name in ("one", "two")]
        ended = [anyio.Event(), anyio.Event()]
        async with (
            service.client(tokens[0]) as one,
            service.client(tokens[1]) as two,
            one.listen(tools_list_changed=True) as news_of_one,
            two.listen(tools_list_changed=True) as news_of_two,
            anyio.create_task_group() as tasks,
        ):

            async def follow(number: int) -> None:
                with pytest.raises(SubscriptionLost):
                    async for _ in (news_of_one, news_of_two)[number]:
                        pass
                ended[number].set()

            tasks.start_soon(follow, 0)
            tasks.start_soon(follow, 1)
            done = await to_thread.run_sync(lambda: service.cli("auth", "lockdown", "--yes"))
            assert done.returncode == 0, done.stderr
            with anyio.fail_after(1):
                for event in ended:
                    await event.wait()
        assert [service.post(token, LIST).status for token in tokens] == [401, 401]
        assert service.post(service.token("new"), LIST).status == 200
        assert done.stdout.split(maxsplit=1)[1].strip() not in service.log
