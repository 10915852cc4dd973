"""Engines, the image built by each, and containers that are gone when the test is, whatever happened in it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.support import engine as engines
from tests.support.appliance import HARDENED, LABEL, Appliance, Folders
from tests.support.engine import Engine

Start = Callable[..., Appliance]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.container)
            item.add_marker(pytest.mark.timeout(900))  # the first one on each engine builds the image


@pytest.fixture(scope="session")
def ready_engines() -> Mapping[str, Engine]:
    """The engines that run here. Under CI engine-setup is run if nobody did; for a person it only looks."""
    subprocess.run(
        [engines.ENGINE_SETUP, "start"], stdin=subprocess.DEVNULL, capture_output=True, timeout=600, check=False
    )
    return engines.ready()


@pytest.fixture(scope="session", params=engines.NAMES)
def engine(request: pytest.FixtureRequest, ready_engines: Mapping[str, Engine]) -> Iterator[Engine]:
    """Each engine in turn; one that is not here is a counted skip for a person and a failure in CI."""
    found = _find(ready_engines, request.param)
    yield found
    left = found.run("ps", "--all", "--quiet", "--filter", f"label={LABEL}").stdout.split()
    if left:
        found.run("rm", "--force", "--volumes", *left)


@pytest.fixture(scope="session")
def podman(ready_engines: Mapping[str, Engine]) -> Engine:
    """Podman, for what only it has."""
    return _find(ready_engines, "podman")


def _find(ready: Mapping[str, Engine], name: str) -> Engine:
    if name not in ready:
        reason = f"{name} runs no containers here: tests/container/engine-setup says why"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    return ready[name]


@pytest.fixture(scope="session")
def image(engine: Engine) -> str:
    """This checkout's image, built by this engine. What earlier runs left goes, save for a day's, which speeds builds up."""
    built = engines.build(engine)
    ours = "label=org.opencontainers.image.title=Strongroom"
    engine.run("image", "prune", "--force", "--filter", ours, "--filter", "until=24h")
    return built


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """An empty vault and an empty state folder."""
    return Folders.make(tmp_path)


@pytest.fixture
def start(engine: Engine, image: str, folders: Folders) -> Iterator[Start]:
    """Start containers, hardened as our compose file does it; all are removed at the end."""
    started: list[Appliance] = []

    def start_one(where: Folders = folders, *, is_waiting: bool = True, **chosen: object) -> Appliance:
        options = {**HARDENED, **chosen.pop("options", {})}  # type: ignore[dict-item]
        appliance = Appliance(engine, where, image=str(chosen.pop("image", image)), options=options, **chosen)  # type: ignore[arg-type]
        started.append(appliance)
        return appliance.start(is_waiting=is_waiting)

    yield start_one
    for appliance in started:
        appliance.remove()
