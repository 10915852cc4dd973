"""A split Strongroom: the edge holds the grants, home the vault; every request between them is signed.

decisions.md 19 and 20; auth.md 7.8. The two run as two processes, with a hop between them that a test can hold up or cut.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.rooms import ALL_TOOLSETS
from tests.support.service import ERAS, Answer, text_of
from tests.support.split import Split, split

pytestmark = pytest.mark.anyio
NOT_FOUND = Answer(404, {"content-length": "0", "connection": "close"}, b"")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Split]:
    """Both halves, with tools at home that behave badly."""
    folder = tmp_path_factory.mktemp("split")
    with split(folder, module="tests.support.odd_tools", home={"TOOLSETS": ALL_TOOLSETS}) as both:
        yield both


@pytest.fixture(scope="module")
def token(both: Split) -> str:
    return both.edge.token("laptop")


@pytest.mark.parametrize("era", ERAS)
async def test_the_real_client_reads_and_writes_through_both_halves(both: Split, token: str, era: str) -> None:
    """decisions.md 19: the grant lives at the edge, the note at home, in its owner's name there."""
    name = f"Through {era}.md"
    async with both.edge.client(token, era) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} >= {"read_note", "create_note"}
        made = await client.call_tool("create_note", {"path": name, "content": "# Through\n"})
        assert not made.is_error, text_of(made)
        assert "# Through" in text_of(await client.call_tool("read_note", {"path": name}))
    assert (both.home.vault / name).read_text() == "# Through\n"
    assert list(both.edge.vault.iterdir()) == []
