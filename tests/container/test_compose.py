"""The compose file, read and run by the compose program of each engine's distribution."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from service.settings.table import TABLE
from tests.support.appliance import free_port
from tests.support.engine import CHECKOUT, Engine

HOST_FILES = CHECKOUT / "container"


@pytest.fixture
def compose(engine: Engine) -> str:
    """The compose program of this engine."""
    found = shutil.which(f"{engine.name}-compose")
    if found is None:
        reason = f"{engine.name}-compose is not installed here"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    return found


def test_compose_file_runs_the_hardened_service(
    engine: Engine, image: str, compose: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """issue 2: `container/compose.yaml`, hardened. Read and run by the distribution's own compose."""
    vault = tmp_path / "Notes"
    vault.mkdir(mode=0o755)
    os.chown(vault, 1234, 1234) if os.getuid() == 0 else None
    port = free_port()
    owner = f"{vault.stat().st_uid}:{vault.stat().st_gid}"
    project = f"strongroom-test-{os.getpid()}"
    environment = {**engine.environment, "DOCKER_HOST": engine.socket, "COMPOSE_PROJECT_NAME": project}
    environment |= {"VAULT": str(vault), "RUN_AS": owner, "PORT": str(port), "IMAGE": image, "TZ": "Asia/Tokyo"}

    def run(*words: str) -> str:
        command = [compose, "-p", project, "-f", str(HOST_FILES / "compose.yaml"), *words]
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, f"{words}: {done.stdout[-1000:]}{done.stderr[-2000:]}"
        return done.stdout

    request.addfinalizer(lambda: run("down", "-v"))
    run("up", "-d", "--no-build")
    (container,) = engine.run("ps", "--quiet", "--filter", f"label=com.docker.compose.project={project}").stdout.split()
    deadline = time.monotonic() + 60
    while engine.run("exec", container, "python", "-m", "ops.health", is_checked=False).returncode != 0:
        assert time.monotonic() < deadline, engine.run("logs", "--tail", "5", container)
        time.sleep(0.1)

    shown = json.loads(engine.run("inspect", container).stdout)[0]
    host = shown["HostConfig"]
    assert (host["ReadonlyRootfs"], host["Memory"]) == (True, 2**30)
    assert host["PidsLimit"] == 256 or engine.name == "podman", "podman-compose 1.0 passes no pids_limit"
    status = engine.run("exec", container, "cat", "/proc/1/status").stdout
    assert re.findall(r"^(CapEff|CapBnd|NoNewPrivs):\s+(\w+)", status, re.MULTILINE) == [
        ("CapEff", "0" * 16),
        ("CapBnd", "0" * 16),
        ("NoNewPrivs", "1"),
    ]
    assert engine.run("exec", container, "printenv", "TZ").stdout == "Asia/Tokyo\n"
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/mcp", timeout=5)
    with refused.value as answer:
        assert answer.code == 401
    assert (
        "first" in engine.run("exec", container, "strongroom", "tokens", "create", "--name", "first", "--json").stdout
    )


EXAMPLES = {
    "caddy": ("compose.yaml", "compose.caddy.yaml"),
    "cloudflared": ("compose.yaml", "compose.cloudflared.yaml"),
    "tailscale": ("compose.yaml", "compose.tailscale.yaml"),
    "home": ("compose.yaml", "compose.home.yaml"),
    "edge": ("compose.edge.yaml",),
}
ANSWERED = {
    "VAULT": "/notes",
    "DOMAIN": "notes.example.org",
    "ORIGIN_SECRET": "o" * 64,
    "EDGE_KEY": "e" * 64,
    "TUNNEL_TOKEN": "t",
    "TS_AUTHKEY": "k",
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_edges_are_read_by_compose_and_set_what_strongroom_knows(
    engine: Engine, compose: str, example: str, request: pytest.FixtureRequest
) -> None:
    """decisions 25: cloudflared and Tailscale as far as a machine without them can; each name is a setting of ours."""
    project = f"strongroom-example-{os.getpid()}"
    files = [word for name in EXAMPLES[example] for word in ("-f", str(HOST_FILES / name))]
    words = ["config"]
    if (
        engine.name == "podman"
    ):  # its compose 1.0 has no config; its trial run starts nothing, but makes volumes and a network
        files.insert(0, "--dry-run")
        words = ["up", "-d", "--no-build"]
        request.addfinalizer(lambda: _remove_what_a_trial_made(engine, project))
    environment = {**engine.environment, "DOCKER_HOST": engine.socket, **ANSWERED}
    done = subprocess.run(
        [compose, "-p", project, *files, *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    named = set(re.findall(r"\bSTRONGROOM_[A-Z_]+", done.stdout + done.stderr))
    assert named <= {row.name for row in TABLE}
    assert named != set()


def _remove_what_a_trial_made(engine: Engine, project: str) -> None:
    mine = engine.run(
        "volume", "ls", "--quiet", "--filter", f"label=com.docker.compose.project={project}"
    ).stdout.split()
    engine.run("volume", "rm", *mine, is_checked=False)
    engine.run("network", "rm", f"{project}_default", is_checked=False)


def test_the_tailscale_example_leads_to_strongroom() -> None:
    """Its one handler goes to the service of the compose file."""
    said = json.loads((HOST_FILES / "tailscale-serve.json").read_text(encoding="utf-8"))
    (site,) = said["Web"].values()
    assert site["Handlers"] == {"/": {"Proxy": "http://strongroom:8484"}}
