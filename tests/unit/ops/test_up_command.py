"""The command that `./ops/up` makes where there is no container: it has the settings of the server, read as an engine reads
them. What `ops/up` does as a whole is tried in tests/container/test_up.py."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

UP: Final = Path(__file__).parents[3] / "ops" / "up"


def run(home: Path, lines: bytes) -> subprocess.CompletedProcess[str]:
    """Let ops/up make its command over these settings, and let that print what its program gets."""
    (home / "venv/bin").mkdir(parents=True)
    (home / "settings.env").write_bytes(lines)
    program = home / "venv/bin/strongroom"
    program.write_text("#!/bin/sh\nenv | grep ^STRONGROOM_ | sort\n", encoding="utf-8")
    program.chmod(0o700)
    (made,) = re.findall(r"^make_command\(\) .*?^}$", UP.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    script = f"set -euo pipefail; say() {{ printf '%s\\n' \"$*\"; }}; home=$1 vault=/v state=/s port=1 zone=UTC\n{made}\nmake_command"
    subprocess.run(["bash", "-c", script, "-", str(home)], check=True, timeout=20)
    environ = {"PATH": "/usr/bin:/bin", "STRONGROOM_READ_ONLY": "1"}
    return subprocess.run(
        [str(home / "strongroom")], env=environ, capture_output=True, text=True, timeout=20, check=False
    )


def test_a_value_is_taken_to_the_letter(tmp_path: Path) -> None:
    """As --env-file takes it: blanks, quotes, dollars and line ends of Windows mean nothing."""
    done = run(
        tmp_path / "my home",
        b'# folders\r\n\nSTRONGROOM_LOW_TRUST=Web clips,Mail\'s "own"\r\nSTRONGROOM_COMMIT_MESSAGE=$(id) $HOME `id` = {summary}',
    )
    assert done.stdout.splitlines() == [
        "STRONGROOM_COMMIT_MESSAGE=$(id) $HOME `id` = {summary}",
        'STRONGROOM_LOW_TRUST=Web clips,Mail\'s "own"',
        "STRONGROOM_PORT=1",
        "STRONGROOM_STATE=/s",
        "STRONGROOM_VAULT=/v",
    ]


@pytest.mark.parametrize(
    "line", ["export STRONGROOM_READ_ONLY=hunter2", "STRONGROOM READ_ONLY=hunter2", "STRONGROOM_READ_ONLY"]
)
def test_a_line_that_is_no_setting_ends_it_and_its_value_is_not_told(line: str, tmp_path: Path) -> None:
    """Passed over, it would be a setting that somebody believes in."""
    done = run(tmp_path, line.encode() + b"\n")
    assert (done.returncode, done.stdout) == (7, "")
    assert "settings.env" in done.stderr
    assert "hunter2" not in done.stderr
