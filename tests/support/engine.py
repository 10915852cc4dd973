"""The container engines of this machine, as `tests/container/engine-setup` found or made them, and the image built by each.

An engine is asked through its own client for what people type (build, run -i, healthcheck) and through its API socket by
testcontainers for everything else (`tests/support/appliance.py`).
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).resolve().parents[2]
ENGINE_SETUP: Final = CHECKOUT / "tests" / "container" / "engine-setup"
NAMES: Final = ("podman", "docker")
IMAGE: Final = "localhost/strongroom-test:current"
_BASE_WITHOUT_REGISTRY: Final = "localhost/strongroom-base:"
_BUILD_TIMEOUT_S: Final = 600
_WHEELS_PORT: Final = 28765


@dataclass(frozen=True, slots=True)
class Engine:
    """A container engine that runs containers here."""

    name: str
    program: str
    socket: str
    base_image: str
    containers_conf: str
    tools_image: str = ""
    """The base with what stands before Strongroom in tests of the edge (Caddy, OpenSSH); empty where it could not be made."""

    @property
    def command(self) -> tuple[str, ...]:
        """The client, as the start of a command line."""
        return (self.program, "--host", self.socket) if self.name == "docker" else (self.program,)

    @property
    def environment(self) -> dict[str, str]:
        """What the client needs in its environment."""
        own = {"CONTAINERS_CONF": self.containers_conf} if self.containers_conf else {}
        return {**os.environ, **own, "DOCKER_BUILDKIT": "1"}

    def run(
        self, *words: str, is_checked: bool = True, timeout_s: float = 60, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the client with these words.

        Raises:
            AssertionError: with the client's last output, when it fails and `is_checked`.
        """
        done = subprocess.run(
            [*self.command, *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            cwd=cwd,
        )
        if is_checked and done.returncode != 0:
            raise AssertionError(
                f"{self.name} {words[0]} failed ({done.returncode}):\n{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
            )
        return done


def ready() -> dict[str, Engine]:
    """The engines that are ready, by name, as written by engine-setup; none when it was not run."""
    folder = Path(
        os.environ.get("ENGINE_DIR")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "strongroom-engines"
    )
    try:
        lines = (folder / "engines.env").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    found = dict(line.split("=", 1) for line in lines)
    return {
        name: Engine(
            name=name,
            program=found[f"ENGINE_{name.upper()}_CLI"],
            socket=found[f"ENGINE_{name.upper()}_SOCKET"],
            base_image=found[f"ENGINE_{name.upper()}_BASE"],
            containers_conf=found.get(f"ENGINE_{name.upper()}_CONF", ""),
            tools_image=found.get(f"ENGINE_{name.upper()}_TOOLS", ""),
        )
        for name in found["ENGINES_READY"].strip('"').split()
    }


def build(engine: Engine, tag: str = IMAGE, *, labels: Sequence[str] = ()) -> str:
    """Build this checkout's image under `tag`, from the public base or, where there is no registry, from the local one.

    Args:
        labels: `name=value`, put on top of the Containerfile's own.
    """
    with build_arguments(engine) as arguments:
        engine.run(
            "build",
            *(("--format", "docker") if engine.name == "podman" else ()),
            *arguments,
            *(f"--label={label}" for label in labels),
            *("--tag", tag, "--file", str(CHECKOUT / "Containerfile"), str(CHECKOUT)),
            timeout_s=_BUILD_TIMEOUT_S,
        )
    return tag


@contextmanager
def build_arguments(engine: Engine) -> Iterator[tuple[str, ...]]:
    """What `build` needs besides the Containerfile: the base and, without a registry, where the locked wheels lie.

    A build has neither our certificates nor our package index. So the wheels are downloaded outside, by the lock's hashes,
    and handed in over loopback, where the build checks the hashes again.
    """
    base = ("--build-arg", f"BASE_IMAGE={engine.base_image}")
    if not engine.base_image.startswith(_BASE_WITHOUT_REGISTRY):
        yield base
        return
    serve = functools.partial(_QuietFiles, directory=str(_wheels()))
    with _listen(serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        links = f"http://127.0.0.1:{server.server_address[1]}/"
        yield (*base, "--network=host", "--build-arg", "PIP_NO_INDEX=1", "--build-arg", f"PIP_FIND_LINKS={links}")
        server.shutdown()


def _listen(serve: Callable[..., http.server.SimpleHTTPRequestHandler]) -> http.server.ThreadingHTTPServer:
    """On the same port as last time if it is free: its number is part of the build's cache key."""
    for port in (_WHEELS_PORT, 0):
        with suppress(OSError):
            return http.server.ThreadingHTTPServer(("127.0.0.1", port), serve)
    raise AssertionError("no free port on the loopback interface")


class _QuietFiles(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: pytest's output is for tests."""


def _wheels() -> Path:
    """The wheels of the image's locks for Python 3.13, downloaded once for each version of the locks."""
    locks = [CHECKOUT / "container" / name for name in ("requirements.lock", "build.lock")]
    digest = hashlib.sha256(b"".join(lock.read_bytes() for lock in locks)).hexdigest()[:16]
    folder = CHECKOUT / ".cache" / f"wheels-{digest}"
    if not (folder / "complete").exists():
        machine = platform.machine()
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-qq",
            "--disable-pip-version-check",
            "--require-hashes",
        ]
        command += [
            "--only-binary",
            ":all:",
            "--python-version",
            "3.13",
            "--implementation",
            "cp",
            "--dest",
            str(folder),
        ]
        for platform_tag in ("manylinux_2_34", "manylinux_2_28", "manylinux_2_17", "manylinux2014"):
            command += ["--platform", f"{platform_tag}_{machine}"]
        for lock in locks:
            command += ["--requirement", str(lock)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=_BUILD_TIMEOUT_S)
        (folder / "complete").touch()
    return folder
