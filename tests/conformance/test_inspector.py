"""The official inspector's command line as a client of somebody else's making: attack 96, auth.md 3.5.

`--strict` has it look at every tool's schema with the eyes of picky clients; a schema that one of them would refuse ends it
with 6, a missing sign-in with 3.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from tests.support import node
from tests.support.internet import Internet, free_port
from tests.support.rooms import ALL_TOOLSETS
from tests.support.service import ROOT, Service
from tests.support.sign_in import Place

node.require()

ERAS: Final = ("legacy", "modern", "auto")
URL_OPENED: Final = re.compile(rb"http://127\.0\.0\.1:\d+/oauth/authorize\?[^\x07\x1b\s]+")
LIST: Final = ("--method", "tools/list", "--format", "json", "--strict")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service.start(tmp_path_factory.mktemp("inspected"), TOOLSETS=ALL_TOOLSETS) as service:
        (service.vault / "a.md").write_text("from the vault\n")
        yield service


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    return service.token("inspector")


def inspect(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the inspector without a terminal, with an empty home of its own."""
    return node.run(folder, node.INSPECTOR, "--cli", *words, env=environment(folder))


def environment(folder: Path) -> dict[str, str]:
    return {
        "MCP_AUTO_OPEN_ENABLED": "false",
        "MCP_INSPECTOR_SECRET_STORE": "file",
        "MCP_CATALOG_PATH": str(folder / "catalogue.json"),
    }


def over_http(service: Service, *words: str) -> Sequence[str]:
    return ("--server-url", f"{service.url}/mcp", "--transport", "http", *words)


def tools_in(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The names that it listed, after a run without a complaint."""
    assert done.returncode == 0, f"{done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    said: dict[str, Any] = json.loads(done.stdout)
    return {tool["name"] for tool in said["result"]["tools"]}


@pytest.mark.parametrize("era", ERAS)
def test_with_a_token_it_lists_the_tools_and_finds_no_fault_in_a_schema(
    service: Service, token: str, tmp_path: Path, era: str
) -> None:
    """Attack 96: the static token is for headless clients (auth.md 7.4)."""
    header = ("--header", f"Authorization: Bearer {token}")
    done = inspect(tmp_path, *over_http(service, *header, *LIST, "--protocol-era", era))
    assert {"read_note", "append_to_note", "move_file", "fetch"} <= tools_in(done)


def test_with_a_token_it_calls_a_tool(service: Service, token: str, tmp_path: Path) -> None:
    """auth.md 3.5: arguments as its users give them."""
    header = ("--header", f"Authorization: Bearer {token}")
    call = ("--method", "tools/call", "--tool-name", "read_note", "--tool-arg", "path=a.md", "--format", "json")
    done = inspect(tmp_path, *over_http(service, *header, *call))
    assert done.returncode == 0, done.stderr
    assert "from the vault" in done.stdout


def test_over_stdio_it_lists_the_tools(tmp_path: Path) -> None:
    """Attack 95 and 96: what `strongroom stdio` writes to stdout is protocol and nothing else."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "state").mkdir(mode=0o700)
    words = [*LIST, "--cwd", str(ROOT), "-e", f"STRONGROOM_STATE={tmp_path / 'state'}"]
    done = inspect(tmp_path, *words, "--", sys.executable, "-m", "ops", "stdio", str(tmp_path / "vault"))
    assert {"read_note", "append_to_note"} <= tools_in(done)


@pytest.mark.parametrize("era", ERAS)
def test_it_signs_in_and_lists_the_tools(service: Service, tmp_path: Path, era: str) -> None:
    """Attack 96, auth.md 3.5: 401, metadata, registration, our page, the code with `iss`, tokens; then without a terminal."""
    place = Place(service, Internet(service.url, service.port))
    words = over_http(service, *LIST, "--protocol-era", era)
    signed_in = sign_in(place, tmp_path, words)
    assert signed_in == 0
    assert {"read_note", "append_to_note"} <= tools_in(inspect(tmp_path, *words, "--stored-auth-only"))


def sign_in(place: Place, folder: Path, words: Sequence[str]) -> int:
    """Run the inspector on a terminal, where it prints what a person has to open; how it ended."""
    terminal, its_end = pty.openpty()
    callback = f"http://127.0.0.1:{free_port()}/oauth/callback"
    process = subprocess.Popen(
        [node.binary(), str(node.INSPECTOR), "--cli", *words],
        cwd=folder,
        env=node.environment(folder, **environment(folder), MCP_OAUTH_CALLBACK_URL=callback),
        stdin=its_end,
        stdout=subprocess.DEVNULL,
        stderr=its_end,
    )
    os.close(its_end)
    try:
        url = _read_until_url(terminal)
        answered = httpx2.get(place.owner().allow(url))
        assert answered.status_code == 200
        while _piece(terminal):
            pass
        code = process.wait(30)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    node.check_it_stayed(folder)
    return code


def _read_until_url(terminal: int) -> str:
    said = b""
    while piece := _piece(terminal):
        said += piece
        found = URL_OPENED.search(said)
        if found is not None and found.end() < len(said):
            return found[0].decode()
    raise AssertionError(f"it named nothing to open: {said!r}")


def _piece(terminal: int) -> bytes:
    """What the process wrote; nothing when it has ended (Linux says EIO then)."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
