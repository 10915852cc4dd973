"""What `./ops/up` prints, and the command that it makes where there is no container: that one has the settings of the server,
read as an engine reads them. What `ops/up` does as a whole is tried in tests/container/test_up.py."""

from __future__ import annotations

import json
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


def test_a_public_address_given_to_up_wins_over_the_settings_file(tmp_path: Path) -> None:
    """One flag, whatever the file says; both forms of the setting together would be an error."""
    home = tmp_path / "home"
    settings = b"STRONGROOM_PUBLIC_URL_FILE=/run/secrets/url"
    assert "STRONGROOM_PUBLIC_URL_FILE=/run/secrets/url" in run(home, settings).stdout
    (home / "strongroom").unlink()
    lines = run_again(home, "https://notes.example.org").stdout.splitlines()
    assert "STRONGROOM_PUBLIC_URL=https://notes.example.org" in lines
    assert "STRONGROOM_PUBLIC_URL_FILE=" in lines


def run_again(home: Path, public_url: str) -> subprocess.CompletedProcess[str]:
    (made,) = functions("make_command")
    variables = f"home={home} vault=/v state=/s port=1 zone=UTC public_url={public_url}"
    script = f"set -euo pipefail; {SAY}; {variables}\n{made}\nmake_command; {home}/strongroom"
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=20, check=True)


# -- what is printed -----------------------------------------------------------------------------------------------------

SAY: Final = "say() { printf '%s\\n' \"$*\"; }"
SECRET: Final = {"STRONGROOM_ORIGIN_SECRET": "(set)"}
PUBLIC: Final = {"STRONGROOM_PUBLIC_URL": "https://notes.example.org"}


def functions(*names: str) -> list[str]:
    text = UP.read_text(encoding="utf-8")
    found = (re.search(rf"^{name}\(\) {{.*?^}}$|^{name}\(\) {{[^\n]*}}[^\n]*$", text, re.M | re.S) for name in names)
    return [match[0] for match in found if match is not None]


def printed(**settings: str) -> str:
    """What ops/up says at the end, with these settings in use."""
    usual = {"STRONGROOM_OAUTH": "1", "STRONGROOM_ORIGIN_SECRET": "(not set)", "STRONGROOM_PUBLIC_URL": "", **settings}
    in_use = json.dumps({name: {"value": value, "from": "default"} for name, value in usual.items()}, indent=2)
    parts = functions("setting", "tell", "tell_clients", "tell_sign_in")
    assert len(parts) == 4
    variables = (
        "name=strongroom port=8500 vault=/v state=/s named= token=srs_abc passphrase='seven words' strongroom=(strongroom) "
        "stdio_command=podman stdio_arguments='\"exec\"' stdio_environment={} in_use=$1"
    )
    script = "\n".join(["set -euo pipefail", SAY, variables, *parts, "tell"])
    done = subprocess.run(["bash", "-c", script, "-", in_use], capture_output=True, text=True, timeout=20, check=True)
    assert done.stderr == ""
    return done.stdout


def test_without_a_public_address_it_says_what_phones_lack() -> None:
    """Issue 5: prints URL, token, passphrase, how to connect each kind of client, and for phones what is missing."""
    said = printed()
    for words in (
        "Token       srs_abc ",
        "Passphrase  seven words ",
        '  claude mcp add --transport http strongroom http://127.0.0.1:8500/mcp --header "Authorization: Bearer srs_abc"\n',
        "  claude mcp add --transport http strongroom http://127.0.0.1:8500/mcp\n",
        "what is missing is an https address",
        "./ops/up --public-url https://notes.example.org",
    ):
        assert words in said
    assert len(re.findall(r"mcpServers", said)) == 2


def test_with_a_public_address_phones_are_told_it_and_tokens_work_here() -> None:
    """Sign-in belongs to the one address that the tokens are for; a static token does not."""
    said = printed(**PUBLIC)
    assert (
        "connector with this address; the page that opens asks for the passphrase\n  https://notes.example.org/mcp\n"
        in said
    )
    assert '127.0.0.1:8500/mcp --header "Authorization' in said
    assert "  claude mcp add --transport http strongroom https://notes.example.org/mcp\n" in said
    assert "missing" not in said


def test_with_an_origin_secret_every_line_leads_through_the_public_address() -> None:
    """What has no secret gets an empty 404, on this machine too."""
    said = printed(**SECRET, **PUBLIC)
    assert "127.0.0.1" not in said
    assert said.count("https://notes.example.org/mcp") >= 5


def test_with_an_origin_secret_and_no_public_address_no_line_is_printed_that_cannot_work() -> None:
    """A line that leads to a 404 is worse than none."""
    said = printed(**SECRET)
    assert "127.0.0.1" not in said
    assert "claude mcp add" not in said
    assert "There is an origin secret" in said
    assert said.count("mcpServers") == 1, "the process on this machine works all the same"


def test_where_nobody_signs_in_no_passphrase_is_spoken_of() -> None:
    """STRONGROOM_OAUTH=0."""
    said = printed(STRONGROOM_OAUTH="0").replace("Passphrase  seven words", "")
    assert "asks for the passphrase" not in said
    assert "phone" not in said


# -- a bare machine ------------------------------------------------------------------------------------------------------


def bare(tmp_path: Path, preset: str, may: str) -> subprocess.CompletedProcess[str]:
    """What ops/up does about Python on a machine that gets it only by `install`."""
    (finder, maker) = functions("find_python", "make_environment")
    (tmp_path / "empty").mkdir()
    brings = f"printf '#!/bin/sh\\nexit 0\\n' >{tmp_path}/empty/python3; /bin/chmod 700 {tmp_path}/empty/python3; "
    script = "\n".join(
        [
            f"set -euo pipefail; PATH={tmp_path}/empty; {preset} checkout=/nowhere home={tmp_path}",
            "die() { printf '%s\\n' \"$*\" >&2; exit 1; }; cat() { exit 7; }; " + f"may_install() {{ {may}; }}",
            f'install() {{ {brings} echo "installed $*"; }}',
            finder,
            maker,
            "make_environment",
        ]
    )
    return subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True, timeout=20, check=False)


def test_a_machine_without_python_is_given_it_where_up_may_install(tmp_path: Path) -> None:
    """Decision 24: a fresh root has no Python at all. Fetching it goes before making the environment (which is cut off here)."""
    assert bare(tmp_path, "", "true").stdout == "installed python3-venv\n"


@pytest.mark.parametrize(("preset", "may"), [("", "false"), ("PYTHON=/no/such/python;", "true")])
def test_a_machine_without_python_is_told_what_to_install_otherwise(preset: str, may: str, tmp_path: Path) -> None:
    """Somebody who named a Python gets no other one."""
    done = bare(tmp_path, preset, may)
    assert (done.returncode, done.stdout) == (1, "")
    assert "as root: apt install python3-venv" in done.stderr
