"""What a start may cost: nothing is imported, opened or built before it is needed. Figures: tests/bench/bench_start.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.support.service import LEGACY, ROOT, START_WITHIN_S, Service, environment, wait_until
from tests.support.streams import request
from tests.wire.test_stdio import INITIALIZE

NOT_BEFORE_THE_FIRST_ANSWER = (
    # the owner signs in, perhaps, one day
    "argon2", "cryptography.x509", "jinja2", "webauthn",
    # what is inside
    "apscheduler", "dulwich", "service.history.history", "service.inside", "service.jobs", "service.search", "service.vault",
    "service.guards.markdown", "service.guards.markup", "service.tools.catalogue", "service.tools.shapes",
    # never in a server
    "mcp.client.client", "mcp.client.session", "pygments", "rich", "service.edge", "service.web.home",
)  # fmt: skip


def imported(told: Path) -> set[str]:
    """Of those that should not be there, which are."""
    return {
        unwanted
        for unwanted in NOT_BEFORE_THE_FIRST_ANSWER
        for name in told.read_text(encoding="ascii").split()
        if name == unwanted or name.startswith(f"{unwanted}.")
    }


def test_over_http_tools_are_listed_before_what_only_calls_need_is_imported(tmp_path: Path) -> None:
    """Issue 6, start → first tools/list; search.md 6.1."""
    with Service.start(tmp_path) as first:
        token = first.token("laptop")  # and the first passphrase is made, which takes argon2
        first.stop()
    told = tmp_path / "modules"
    with Service.start(
        tmp_path, module="tests.support.unopened", is_waiting=False, MODULES_TO=str(told), PORT=str(first.port)
    ) as service:
        service.port = first.port

        def answers() -> bool:
            try:
                return service.ask("/healthz").status == 200
            except ConnectionRefusedError:
                return False

        wait_until(answers, START_WITHIN_S, "answer")
        assert service.ask("/readyz").status == 503
        listed = service.post(token, request("tools/list", LEGACY)[0])
        assert b'"search_notes"' in listed.body
        service.stop()
    assert imported(told) == set()


def test_over_stdio_tools_are_listed_before_what_only_calls_need_is_imported(tmp_path: Path) -> None:
    """Issue 6, start → first tools/list; search.md 6.1."""
    told = tmp_path / "modules"
    environ = environment(tmp_path, MODULES_TO=str(told))
    said = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {**request("tools/list", LEGACY)[0], "id": 2},
    ]
    done = subprocess.Popen(
        [sys.executable, "-m", "tests.support.unopened", "stdio"],
        cwd=ROOT,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with done:
        assert done.stdin is not None
        assert done.stdout is not None
        done.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in said))
        done.stdin.flush()
        answers = [json.loads(done.stdout.readline()) for _ in range(2)]
        done.stdin.close()
        assert done.wait(20) == 0
    assert "search_notes" in {tool["name"] for tool in answers[1]["result"]["tools"]}
    assert imported(told) == set()


def test_what_cannot_be_opened_ends_the_service_and_says_why(tmp_path: Path) -> None:
    """As if it had been opened before: one line, and the exit code for what a person must mend (reference, Exit codes)."""
    environ = environment(tmp_path, HISTORY_DIR=".git", PORT="0")
    (tmp_path / "vault" / ".git").write_text("not a repository\n")
    done = subprocess.run(
        [sys.executable, "-m", "ops", "serve"],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 7
    assert done.stderr.startswith("strongroom: ")
    assert "server.started" not in done.stdout
