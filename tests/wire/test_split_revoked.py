"""decisions.md 20 through a tunnel that misbehaves: within a second of a revocation at the edge nothing of the grant becomes
visible at home any more, although home knows no grants and hears of nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import anyio
import pytest

from tests.support.service import LEGACY, Service, wait_until
from tests.support.split import Split, split
from tests.support.streams import PROMISED_S, Stream, in_thread

pytestmark = pytest.mark.anyio


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


async def revoked_a_second_ago(both: Split, name: str) -> None:
    """Revoke, and let the promised time go by."""
    await in_thread(lambda: both.edge.cli_json("tokens", "revoke", name))
    await anyio.sleep(PROMISED_S)


async def test_a_write_that_waits_at_home_is_not_made_when_the_tunnel_went_away_with_the_revocation(
    both: Split,
) -> None:
    """Home hears of nothing: what it has not heard of the edge for changes nothing."""
    token = await in_thread(lambda: both.edge.token("stalled"))
    with anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            await began(both, tasks, token, "stalled")
            both.tunnel.stall()
            try:
                await revoked_a_second_ago(both, "stalled")
                assert not await in_thread(lambda: write_now(both.home, "stalled"))
            finally:
                both.tunnel.flow()
            tasks.cancel_scope.cancel()


async def test_a_tunnel_that_keeps_closed_connections_open_does_not_keep_a_revoked_write_alive(both: Split) -> None:
    """The edge says again and again what is at work; so what lives goes on beside it, however long it takes."""
    tokens = {name: await in_thread(lambda name=name: both.edge.token(name)) for name in ("kept", "doomed")}
    with anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            for name, token in tokens.items():
                await began(both, tasks, token, name)
            both.tunnel.holds_ends = True
            try:
                await revoked_a_second_ago(both, "doomed")
                assert not await in_thread(lambda: write_now(both.home, "doomed"))
                assert await in_thread(lambda: write_now(both.home, "kept"))
            finally:
                both.tunnel.holds_ends = False
            tasks.cancel_scope.cancel()
