"""The protocol's own conformance suite against the service, through edge and guard: attack 96, auth.md 3.

Two targets: our server with the fixtures that the suite's scenarios call by name, which shows that the chain carries the
whole protocol in both eras; and the real server with its own tools, for the scenarios that need none. What may fail is in
`expected`, a reason each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.support import node
from tests.support.service import Service

node.require()

EXPECTED: Final = Path(__file__).parent / "expected"
LEGS: Final[Mapping[str, tuple[Path, Sequence[str], int]]] = {
    "0.1.16": (node.SUITE, ["--suite", "all"], 28),
    "2025-11-25": (node.NEXT_SUITE, ["--requirements", "2025-11-25"], 29),
    "2026-07-28": (node.NEXT_SUITE, ["--requirements", "2026-07-28"], 41),
}
"""By the file of what may fail: the suite, what it runs, and how many scenarios must pass."""

NO_FIXTURES: Final[Mapping[str, Sequence[str]]] = {
    "2025-11-25": [
        "server-initialize",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "server-session-lifecycle",
    ],
    "2026-07-28": [
        "server-stateless",
        "tools-list",
        "resources-list",
        "prompts-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "caching",
        "sep-2164-resource-not-found",
        "http-header-validation",
        "input-required-result-missing-input-response",
        "input-required-result-unsupported-methods",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
    ],
}
"""auth.md 3.3. tools-call-simple-text and -error would pass for the wrong reason: an unknown tool answers with text, too."""

WANTS_A_FIXTURE: Final = {
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
}
"""Two checks of server-stateless that call a tool of the suite's."""

_LINE: Final = re.compile(r"^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed", re.MULTILINE)


@pytest.fixture(scope="module")
def with_fixtures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("everything"), "serving_everything") as service:
        yield service


@pytest.fixture(scope="module")
def as_it_is(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("real"), "serving") as service:
        (service.vault / "a.md").write_text("one\n")
        yield service


@contextmanager
def serving(folder: Path, module: str) -> Iterator[Service]:
    """The service with a token put into every request, as `serving.py` says."""
    with Service.start(folder, module=f"tests.conformance.{module}") as service:
        (folder / "token").write_text(service.token("conformance"))
        yield service


@pytest.mark.parametrize("leg", LEGS)
def test_what_stateless_http_allows_of_the_suite_passes_in_both_eras(
    with_fixtures: Service, tmp_path: Path, leg: str
) -> None:
    """Attack 96. The suite itself fails a failure that is not in the list, and an entry of the list that passes."""
    script, what, wanted = LEGS[leg]
    url, listed = f"{with_fixtures.url}/mcp", str(EXPECTED / f"{leg}.yml")
    done = node.run(tmp_path, script, "server", "--url", url, *what, "--expected-failures", listed)
    assert done.returncode == 0, done.stdout[done.stdout.find("=== SUMMARY") :]
    assert len([line for line in _LINE.findall(done.stdout) if line[0] == "✓"]) == wanted


@pytest.mark.parametrize("revision", NO_FIXTURES)
def test_our_own_server_passes_what_needs_no_fixtures(as_it_is: Service, tmp_path: Path, revision: str) -> None:
    """Attack 96, auth.md 3.3: with our tools, resources and nothing else."""
    url = f"{as_it_is.url}/mcp"
    done = node.run(tmp_path, node.NEXT_SUITE, "server", "--url", url, "--requirements", revision, "-o", "out")
    ran = {name for _, name, _, _ in _LINE.findall(done.stdout)}
    assert set(NO_FIXTURES[revision]) <= ran
    assert failed_checks(tmp_path / "out", NO_FIXTURES[revision]) <= WANTS_A_FIXTURE


def failed_checks(folder: Path, scenarios: Sequence[str]) -> set[str]:
    """The ids of the checks that failed in the scenarios, of which each must have left its checks there."""
    failed: set[str] = set()
    for scenario in scenarios:
        (report,) = folder.glob(f"server-{scenario}-20*/checks.json")
        checks = json.loads(report.read_text(encoding="utf-8"))
        failed |= {check["id"] for check in checks if check["status"] == "FAILURE"}
    return failed


@pytest.mark.parametrize("leg", LEGS)
def test_each_expected_failure_has_its_reason(leg: str) -> None:
    """Issue 5: expected failures listed with a reason each."""
    lines = (EXPECTED / f"{leg}.yml").read_text(encoding="utf-8").splitlines()
    entries = [line for line in lines if line.startswith("  - ")]
    assert entries
    assert all(re.fullmatch(r"  - [\w-]+ # .{5,}", line) for line in entries)


def test_an_expected_failure_that_passes_fails_the_run(with_fixtures: Service, tmp_path: Path) -> None:
    """The lists above would mean nothing otherwise."""
    listed = tmp_path / "stale.yml"
    listed.write_text("server:\n  - ping\n")
    url = f"{with_fixtures.url}/mcp"
    words = ["server", "--url", url, "--scenario", "ping", "--expected-failures", str(listed)]
    assert node.run(tmp_path, node.SUITE, *words).returncode == 1
    assert node.run(tmp_path, node.NEXT_SUITE, *words).returncode == 1


def test_a_script_that_leaves_the_machine_is_caught(tmp_path: Path) -> None:
    """No run may touch the network besides its target; 192.0.2.1 is nobody's (RFC 5737)."""
    script = tmp_path / "leave.cjs"
    script.write_text("fetch('http://192.0.2.1/').catch(() => process.exit(3));")
    with pytest.raises(AssertionError, match=r"192\.0\.2\.1"):
        node.run(tmp_path, script)


def test_the_lock_holds_hashes_and_names_no_registry() -> None:
    """The rule for every lock here: bytes are fixed, where they come from is not."""
    packages: dict[str, dict[str, object]] = json.loads(node.LOCK.read_text(encoding="utf-8"))["packages"]
    others = {name: package for name, package in packages.items() if name}
    assert len(others) > 100
    assert all(str(package["integrity"]).startswith("sha512-") for package in others.values())
    assert not any("resolved" in package for package in others.values())
