"""The suite's two scenarios for authorization servers against the real process: attack 96, auth.md 3.1.

The suite prints the address to open and waits for the answer at its own port; the owner here is a browser without script.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx2
import pytest

from tests.support import node
from tests.support.internet import Internet, free_port
from tests.support.oauth_client import Connection, Connector
from tests.support.service import Service
from tests.support.sign_in import Place

node.require()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with Service.start(tmp_path_factory.mktemp("issuer")) as service:
        yield Place(service, Internet(service.url, service.port))


@pytest.mark.parametrize("is_named", [True, False], ids=["with a resource", "without one"])
def test_both_scenarios_pass_without_a_warning(place: Place, tmp_path: Path, is_named: bool) -> None:
    """Attack 96: metadata and the code grant, with and without `--resource`."""
    port = free_port()
    client = Connection(Connector("conformance", f"http://127.0.0.1:{port}/callback"), place.internet)
    client.discover()
    client.introduce()
    words = ["authorization", "--url", place.internet.base, "--client-id", str(client.client_id), "-p", str(port)]
    words += ["--resource", f"{place.internet.base}/mcp"] if is_named else []
    said, code = run_with_owner(place, tmp_path, [*words, "-o", "out"])
    assert code == 0, said
    checks = [check for file in tmp_path.glob("out/*/checks.json") for check in json.loads(file.read_text())]
    assert {check["id"] for check in checks} >= {"authorization-server-metadata", "authorization-server-metadata-cimd"}
    assert len(checks) >= 3
    assert {check["status"] for check in checks} == {"SUCCESS"}, said


def run_with_owner(place: Place, folder: Path, words: Sequence[str]) -> tuple[str, int]:
    """Run the suite and sign in at the address that it prints; all that it said, and how it ended."""
    command, said = [node.binary(), str(node.NEXT_SUITE), *words], list[str]()
    with subprocess.Popen(
        command,
        cwd=folder,
        env=node.environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                said.append(line)
                if line.startswith(f"{place.internet.base}/oauth/authorize?"):
                    assert httpx2.get(place.owner().allow(line.strip())).status_code == 200
            code = process.wait(30)
        finally:
            process.kill()
    node.check_it_stayed(folder)
    return "".join(said), code
