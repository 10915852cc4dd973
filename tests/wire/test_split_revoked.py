"""decisions.md 20 through a tunnel that misbehaves: within a second of a revocation at the edge nothing of the grant becomes
visible at home any more, although home knows no grants and hears of nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import anyio
import pytest

from tests.support.service import LEGACY, Service, wait_until
from tests.support.split import Split, split
from tests.support.streams import PROMISED_S, Stream, in_thread

pytestmark = pytest.mark.anyio
LIST: Final = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Split]:
    with split(tmp_path_factory.mktemp("revoked"), module="tests.support.odd_tools") as both:
        yield both


async def began(both: Split, tasks: anyio.abc.TaskGroup, token: str, name: str) -> None:
    """Let a call get as far as the moment before it writes."""
    arguments = {"name": name}
    tasks.start_soon(
        lambda: Stream().run(both.edge, token, "tools/call", LEGACY, name="write_when_told", arguments=arguments)
    )
    await in_thread(lambda: wait_until((both.home.state / f"{name}.begun").exists, 15, "begin"))


def write_now(home: Service, name: str) -> bool:
    """Let it go on to write; whether it did."""
    (home.state / f"{name}.go").touch()
    wait_until((home.state / f"{name}.done").exists, 15, "go on to its end")
    return (home.vault / f"{name}.md").exists()


@pytest.mark.parametrize("what", ["nothing goes through", "the ends of connections do not go through"])
async def test_a_write_that_waits_at_home_is_not_made_a_second_after_the_revocation(both: Split, what: str) -> None:
    """Neither a tunnel that went away nor one that keeps closed connections open lengthens the second."""
    name = what.split(maxsplit=1)[0]
    token = await in_thread(lambda: both.edge.token(name))
    with anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            await began(both, tasks, token, name)
            if name == "nothing":
                both.tunnel.stall()
            both.tunnel.holds_ends = True
            try:
                await in_thread(lambda: both.edge.cli_json("tokens", "revoke", name))
                committed_by = time.monotonic()
                await anyio.sleep_until(anyio.current_time() + PROMISED_S - (time.monotonic() - committed_by))
                assert not await in_thread(lambda: write_now(both.home, name))
            finally:
                both.tunnel.holds_ends = False
                both.tunnel.flow()
            tasks.cancel_scope.cancel()


async def test_what_lives_goes_on_beside_it_however_long_it_takes(both: Split) -> None:
    """The counterpart: the edge says again and again what is at work, so that a call of some seconds still writes."""
    token = await in_thread(lambda: both.edge.token("alive"))
    with anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            await began(both, tasks, token, "alive")
            pings = _pings(both)
            await in_thread(lambda: wait_until(lambda: _pings(both) > pings + 4, 20, "say so four times"))
            assert await in_thread(lambda: write_now(both.home, "alive"))


def _pings(both: Split) -> int:
    return sum(one.count(b"POST /edge/ping") for one in both.tunnel.sent)
