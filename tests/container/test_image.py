"""What the image is made of: small, without tools that an intruder would want, the same from both engines."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest

from tests.support.engine import CHECKOUT, Engine


@pytest.fixture(scope="module")
def config(engine: Engine, image: str) -> dict[str, Any]:
    """The image's own configuration, as its engine shows it."""
    shown: dict[str, Any] = json.loads(engine.run("image", "inspect", image).stdout)[0]
    return shown


def inside(engine: Engine, image: str, *command: str) -> str:
    """Run a command in a fresh, locked-down container of the image as some user; what it printed."""
    locked = ("--rm", "--network=none", "--read-only", "--cap-drop=ALL", "--user=4321:4321")
    return engine.run("run", *locked, "--entrypoint", command[0], image, *command[1:]).stdout


def test_it_starts_the_service_as_a_number_that_is_not_root(config: dict[str, Any]) -> None:
    """containers.md: a fixed non-root UID, exec form, one port above 1024."""
    said = config["Config"]
    assert (said["User"], said["Cmd"]) == ("1000:1000", ["serve"])
    assert said["Entrypoint"] == ["env", "--block-signal=TERM", "strongroom"]
    assert list(said["ExposedPorts"]) == ["8484/tcp"]
    assert {"STRONGROOM_HOST=0.0.0.0", "STRONGROOM_VAULT=/vault", "STRONGROOM_STATE=/state"} <= set(said["Env"])


def test_its_health_check_needs_neither_shell_nor_curl(config: dict[str, Any]) -> None:
    """containers.md: the image's own check uses the standard library only, no shell, no curl."""
    check = config["Config"].get("Healthcheck") or config["Healthcheck"]
    assert check["Test"] == ["CMD", "python", "-m", "ops.health"]


def test_its_labels_say_what_it_is(config: dict[str, Any]) -> None:
    """OCI image spec, annotations."""
    labels = config["Config"]["Labels"]
    assert labels["org.opencontainers.image.title"] == "Strongroom"
    assert labels["org.opencontainers.image.licenses"] == "MIT"
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert labels["org.opencontainers.image.version"] == project["version"]


def test_it_is_small(config: dict[str, Any]) -> None:
    """189 MB measured on Debian's Python, 15 of them the scan of memory for each kind of processor (dependencies.md)."""
    assert config["Size"] < 200_000_000


def test_it_holds_no_compiler_installer_downloader_or_git(engine: Engine, image: str) -> None:
    """containers.md: no compiler, pip, git or curl in the final stage."""
    unwanted = "cc gcc g++ make ld pip pip3 apt apt-get perl git curl wget ssh nc gdb"
    found = inside(
        engine,
        image,
        "sh",
        "-c",
        f"for word in {unwanted}; do command -v $word; done; python -m pip 2>&1; python -m ensurepip 2>&1; true",
    )
    assert found.split("\n")[:-1] == [
        "/opt/strongroom/bin/python: No module named pip",
        "/opt/strongroom/bin/python: No module named ensurepip",
    ]


def test_nothing_in_it_gains_rights(engine: Engine, image: str) -> None:
    """No set-uid or set-gid program is left, and nothing but the two mount points and /tmp is writable for everyone."""
    seen = "find / -xdev ( -path /proc -o -path /dev -o -path /sys ) -prune -o -not -type l -perm {} -print 2>/dev/null; true"
    gaining, writable = (
        inside(engine, image, "sh", "-c", seen.format(mode).replace("(", "'('").replace(")", "')'"))
        for mode in ("/6000", "-002")
    )
    assert gaining == ""
    assert set(writable.split()) <= {"/vault", "/state", "/tmp", "/var/tmp", "/run/lock", "/var/lock"}


def test_it_knows_certificates_and_time_zones(engine: Engine, image: str) -> None:
    """containers.md: tzdata and CA certificates present."""
    program = (
        "import ssl, zoneinfo\n"
        "print(len(ssl.create_default_context().get_ca_certs()) > 50)\n"
        "print(zoneinfo.ZoneInfo('Pacific/Kiritimati').key, zoneinfo.ZoneInfo('Europe/Berlin').key)"
    )
    assert inside(engine, image, "python", "-c", program) == "True\nPacific/Kiritimati Europe/Berlin\n"


def test_everything_is_compiled_so_a_read_only_root_costs_no_start_up_time(engine: Engine, image: str) -> None:
    """containers.md: bytecode compiled at build time."""
    program = (
        "import importlib.util, pathlib, sys, sysconfig\n"
        "roots = [sysconfig.get_path('stdlib'), sysconfig.get_path('purelib')]\n"
        "import service.settings, ops.health, mcp.server, dulwich, json.encoder, asyncio.events\n"
        "bare = [m.__name__ for m in list(sys.modules.values()) if (f := getattr(m, '__file__', None)) and f.endswith('.py')\n"
        "        and not pathlib.Path(importlib.util.cache_from_source(f)).exists()]\n"
        "print(len(sys.modules) > 300, bare)"
    )
    assert inside(engine, image, "python", "-c", program) == "True []\n"


def test_it_installs_exactly_what_the_lock_pins(engine: Engine, image: str) -> None:
    """containers.md: hashed lock installed with --require-hashes."""
    lock = (CHECKOUT / "container" / "requirements.lock").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", lock, re.MULTILINE))
    program = (
        "import importlib.metadata as m, json, re\n"
        "print(json.dumps({re.sub('[._]', '-', d.name.lower()): d.version for d in m.distributions()}))"
    )
    installed = json.loads(inside(engine, image, "python", "-I", "-c", program))
    ours = installed.pop("strongroom")
    assert ours == tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert set(installed.items()) <= set(pinned.items())
    assert set(pinned) - set(installed) <= {"pywin32", "tzdata", "httpx2-jsfetch"}, (
        "only what other platforms need is left out"
    )
