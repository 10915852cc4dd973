"""The first start: a passphrase is there, for whoever is at the machine and for nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ops import exits
from service.auth.audit import Audit
from service.auth.passphrase import INITIAL_FILE
from service.clock import SystemClock
from service.settings.kinds import zone
from tests.support.service import Service, wait_until

SECRET = "0123456789abcdef0123456789abcdef"


def test_a_passphrase_is_made_once_and_never_said_by_the_service(tmp_path: Path) -> None:
    """decisions.md 8: 0600 in the state, shown by a command once, never on the service's own output."""
    with Service.start(tmp_path) as service:
        made = (service.state / INITIAL_FILE).read_text(encoding="ascii").strip()
        assert (service.state / INITIAL_FILE).stat().st_mode & 0o777 == 0o600
        (line,) = service.lines("passphrase.made")
        assert line["show"] == "strongroom auth passphrase --show-initial"
        shown = service.cli("auth", "passphrase", "--show-initial")
        assert (shown.returncode, shown.stdout) == (0, made + "\n")
        assert service.cli("auth", "passphrase", "--show-initial").returncode == exits.CONFLICT
    with Service.start(tmp_path) as again:
        assert again.lines("passphrase.made") == []
        assert not (again.state / INITIAL_FILE).exists()
    for said in ("stdout", "stderr"):
        assert made not in (tmp_path / said).read_text(encoding="utf-8")


def test_where_nobody_can_sign_in_no_passphrase_is_made(tmp_path: Path) -> None:
    """A secret that is of no use is only one more secret."""
    with Service.start(tmp_path, OAUTH="0") as service:
        assert service.lines("passphrase.made") == []
        assert not (service.state / INITIAL_FILE).exists()


@pytest.mark.parametrize("given", [None, "wrong" * 8])
def test_requests_without_the_origin_secret_are_counted_in_the_audit_log(tmp_path: Path, given: str | None) -> None:
    """auth.md 7.9: origin_secret_bad, as a counter, so that a scanner cannot fill the log."""
    with Service.start(tmp_path, ORIGIN_SECRET=SECRET) as service:
        headers = [] if given is None else [("X-Origin-Secret", given)]
        for _ in range(20):
            assert service.ask("/mcp", headers).status == 404
        audit = Audit(service.state, SystemClock(zone("UTC")))
        wait_until(lambda: any(audit.lines()), 5, "count it")
        (line,) = audit.lines()
        assert (line["event"], line["times"]) == ("origin_secret_bad", 1)
        assert SECRET not in str(line)
