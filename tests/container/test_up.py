"""`./ops/up` as a person uses it: what it prints is taken at its word, copied and run."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support import engine as engines
from tests.support.appliance import free_port, text_of, within
from tests.support.engine import CHECKOUT, Engine


@dataclass(slots=True)
class Person:
    """Somebody with a home folder of their own who types `./ops/up`."""

    home: Path
    environment: Mapping[str, str]
    name: str = f"strongroom-up-{os.getpid()}"
    port: int = field(default_factory=free_port)

    def types(self, *words: str, timeout_s: float = 300) -> subprocess.CompletedProcess[str]:
        """Run `ops/up WORDS` under this person's name and port."""
        command = [str(CHECKOUT / "ops" / "up"), *words, "--name", self.name]
        return subprocess.run(
            command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def up(self, *words: str) -> str:
        """Start it; what was printed.

        Raises:
            AssertionError: when it fails.
        """
        done = self.types(*words, "--port", str(self.port))
        assert done.returncode == 0, f"{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
        return done.stdout


def person(home: Path, **environment: str) -> Person:
    """A person whose programs are this machine's and whose home is `home`."""
    home.mkdir(exist_ok=True)
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("STRONGROOM_", "XDG_", "DOCKER_"))
    }
    return Person(home, {**inherited, "HOME": str(home), **environment})


@pytest.fixture
def with_engine(engine: Engine, image: str, tmp_path: Path) -> Iterator[Person]:
    """A person with this engine; `image` is asked for so that the build finds its layers in the cache."""
    own = {"CONTAINERS_CONF": engine.containers_conf} if engine.containers_conf else {}
    tag = f"localhost/strongroom-up-{os.getpid()}:latest"
    with engines.build_arguments(engine) as arguments:
        base = arguments[1].removeprefix("BASE_IMAGE=")
        somebody = person(
            tmp_path / "home",
            ENGINE=engine.name,
            IMAGE=tag,
            BASE_IMAGE=base,
            ENGINE_BUILD_ARGS=" ".join(arguments[2:]),
            DOCKER_HOST=engine.socket,
            **own,
        )
        yield somebody
        somebody.types("--down")
    engine.run("rmi", "--force", tag, is_checked=False)


@pytest.fixture
def without_engine(tmp_path: Path) -> Iterator[Person]:
    """A person who wants no container."""
    somebody = person(tmp_path / "home", ENGINE="none")
    yield somebody
    somebody.types("--down")


@pytest.fixture
def without_registry(podman: Engine, tmp_path: Path) -> Iterator[Person]:
    """A person whose podman cannot get the base image, and who has no docker."""
    own = {"CONTAINERS_CONF": podman.containers_conf} if podman.containers_conf else {}
    nothing = f"unix://{tmp_path}/no.sock"
    somebody = person(tmp_path / "home", BASE_IMAGE="localhost/no-such-base:1", DOCKER_HOST=nothing, **own)
    yield somebody
    somebody.types("--down")


def test_up_with_an_engine_gives_a_service_whose_printed_lines_work(with_engine: Person, tmp_path: Path) -> None:
    """issue 2: builds and starts, makes token and state, prints URL, token and copy-paste lines."""
    vault = a_vault(tmp_path)
    printed = with_engine.up(str(vault))
    token = printed_token(printed)
    assert use(with_engine, printed, token) == "Heron.md"
    assert (vault / "By curl.md").stat().st_uid == vault.stat().st_uid
    assert str(with_engine.home / ".local/state/strongroom" / with_engine.name / "state") in printed


def test_up_prints_a_passphrase_once_and_an_address_that_the_service_knows_as_its_own(
    with_engine: Person, tmp_path: Path
) -> None:
    """issue 5: the published port is not the one inside; the resource has to be the typed URL, byte by byte."""
    printed = with_engine.up(str(a_vault(tmp_path)))
    (passphrase,) = re.findall(r"^  Passphrase  (\S.*?)   \(shown once", printed, re.MULTILINE)
    assert len(passphrase.split()) >= 6
    here = f"http://127.0.0.1:{with_engine.port}"
    assert f"  claude mcp add --transport http {with_engine.name} {here}/mcp\n" in printed
    assert resource(with_engine, here) == f"{here}/mcp"
    assert "what is missing is an https address" in printed

    public = "https://notes.example.org"
    moved = with_engine.up("--public-url", public)
    assert passphrase not in moved
    assert "shown or set before" in moved
    assert f"  {public}/mcp\n" in moved
    assert resource(with_engine, public) == f"{public}/mcp"
    assert f"  {public}/mcp\n" in with_engine.up(), "it is remembered"
    assert resource(with_engine, public) == f"{public}/mcp"
    with_engine.up("--public-url", "none")
    assert resource(with_engine, here) == f"{here}/mcp"


def test_up_twice_changes_nothing_and_says_how_to_make_another_token(with_engine: Person, tmp_path: Path) -> None:
    """issue 2: running it twice is safe (the second time it says how to make another token)."""
    vault = a_vault(tmp_path)
    token = printed_token(with_engine.up(str(vault)))
    again = with_engine.up()
    assert "It runs already" in again
    assert f"Vault       {vault}" in again
    assert token not in again
    (another,) = re.findall(r"another one: (.* tokens create --name laptop)$", again, re.MULTILINE)
    made = subprocess.run(
        ["bash", "-c", another], env=with_engine.environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert made.stdout.strip() != token
    assert status(with_engine, made.stdout.strip()) == status(with_engine, token) == 200

    down = with_engine.types("--down")
    assert (down.returncode, status(with_engine, token)) == (0, 0)
    assert "To remove everything but the notes" in down.stdout
    with_engine.up()
    assert status(with_engine, token) == 200, "tokens outlive a stop"


def test_up_that_fails_repeats_the_last_words_and_leaves_nothing_running(with_engine: Person, tmp_path: Path) -> None:
    """A container that restarts for ever on a mistake in its settings helps nobody."""
    home = with_engine.home / ".local/state/strongroom" / with_engine.name
    home.mkdir(parents=True)
    (home / "settings.env").write_text("STRONGROOM_COMIT_EVERY=5m\n", encoding="utf-8")
    done = with_engine.types(str(a_vault(tmp_path)), "--port", str(with_engine.port))
    assert done.returncode == 1
    assert "did you mean STRONGROOM_COMMIT_EVERY" in done.stderr
    listing = [with_engine.environment["ENGINE"], "ps", "-aq", "--filter", f"name={with_engine.name}"]
    left = subprocess.run(listing, env=with_engine.environment, capture_output=True, check=True)
    assert left.stdout == b""


@pytest.mark.timeout(400)  # it makes a virtual environment
def test_up_without_a_vault_lays_out_the_sample_that_doubles_as_the_guide(without_registry: Person) -> None:
    """issue 2: with no vault named it lays out a small sample vault; without a possible engine it runs the same service in
    a virtual environment and says so."""
    with socket.create_server(("127.0.0.1", without_registry.port)):
        taken = without_registry.types("--port", str(without_registry.port))
    assert taken.returncode == 1, "whoever has the port would be taken for ours"
    assert taken.stderr.endswith(f"port {without_registry.port} is taken: name another with --port\n")
    printed = without_registry.up()
    assert "Running without a container" in printed
    sample = without_registry.home / "strongroom-sample-vault"
    assert (sample / "Start here.md").is_file()
    token = printed_token(printed)
    assert use(without_registry, printed, token) == "Start here.md"

    again = without_registry.up()
    assert "It runs already" in again
    assert token not in again
    (doctor,) = re.findall(r"^Is all well +(.*)$", again, re.MULTILINE)
    wrong = {**without_registry.environment, "STRONGROOM_STATE": "/nowhere"}
    checked = subprocess.run(["bash", "-c", doctor], env=wrong, capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 0, checked.stdout
    assert f"the server on port {without_registry.port} is ready" in checked.stdout
    log = (without_registry.home / ".local/state/strongroom" / without_registry.name / "serve.log").read_text(
        encoding="utf-8"
    )
    assert token not in log
    assert without_registry.types("--down").returncode == 0
    assert status(without_registry, token) == 0


def test_up_refuses_a_vault_that_is_not_there(without_engine: Person) -> None:
    """A mistyped folder is not made: it would be an empty vault."""
    done = without_engine.types("/nowhere/Notes")
    assert done.returncode == 1
    assert done.stderr.startswith("ops/up: there is no folder /nowhere/Notes")


def test_up_refuses_a_state_inside_the_vault(without_engine: Person, tmp_path: Path) -> None:
    """house.md: state is never inside the vault, because a vault is synced and pushed."""
    vault = a_vault(tmp_path)
    done = without_engine.types(str(vault), "--state", str(vault / "state"))
    assert done.returncode == 1
    assert "must not lie inside the vault" in done.stderr


def a_vault(parent: Path) -> Path:
    vault = parent / "Notes"
    vault.mkdir()
    (vault / "Heron.md").write_text("# Heron\n", encoding="utf-8")
    if os.getuid() == 0:
        for path in (vault, vault / "Heron.md"):
            os.chown(path, 1234, 1234)
    return vault


def printed_token(printed: str) -> str:
    (token,) = re.findall(r"^  Token +(\S+) ", printed, re.MULTILINE)
    return str(token)


def use(somebody: Person, printed: str, token: str) -> str:
    """Take every printed way in: curl, the address with its header, and the stdio configuration. The first note's path."""
    curl = re.search(r"^  (curl .*\\\n.*)$", printed, re.MULTILINE)
    assert curl is not None
    assert shutil.which("curl") is not None
    answer = subprocess.run(["bash", "-c", curl[1]], capture_output=True, text=True, timeout=60, check=True).stdout
    assert '"serverInfo"' in answer
    claude_code = re.search(
        r"^  claude mcp add --transport http (\S+) (\S+) --header \"Authorization: Bearer (\S+)\"$",
        printed,
        re.MULTILINE,
    )
    assert claude_code is not None
    assert claude_code.groups() == (somebody.name, f"http://127.0.0.1:{somebody.port}/mcp", token)
    desktop, cursor = (
        json.loads(found)["mcpServers"][somebody.name]
        for found in re.findall(r"^  (\{\"mcpServers\".*)$", printed, re.MULTILINE)
    )

    async def over_http() -> str:
        async with (
            httpx2.AsyncClient(headers=cursor["headers"]) as http,
            Client(streamable_http_client(cursor["url"], http_client=http)) as client,
        ):
            made = await client.call_tool("create_note", {"path": "By curl.md", "content": "hello\n"})
            assert not made.is_error, text_of(made)
            return text_of(await client.call_tool("list_notes", {}))

    async def over_stdio() -> str:
        environment = {**somebody.environment, **desktop["env"]}
        async with Client(
            StdioServerParameters(command=desktop["command"], args=desktop["args"], env=environment)
        ) as client:
            return text_of(await client.call_tool("list_notes", {}))

    listed = within(60, over_http)
    assert "By curl.md" in listed
    assert within(60, over_stdio) == listed
    return "Heron.md" if "Heron.md" in listed else "Start here.md"


def resource(somebody: Person, base: str) -> str:
    """What the service says that tokens are for, asked under this address."""
    answer = httpx2.get(
        f"http://127.0.0.1:{somebody.port}/.well-known/oauth-protected-resource/mcp",
        headers={"Host": base.partition("://")[2]},
        timeout=10,
    )
    return str(answer.raise_for_status().json()["resource"])


def status(somebody: Person, token: str) -> int:
    """HTTP status of a request with this token; 0 when nothing answers."""
    try:
        return httpx2.post(
            f"http://127.0.0.1:{somebody.port}/mcp",
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"},
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            timeout=10,
        ).status_code
    except httpx2.TransportError:
        return 0
