"""The import contract bites: each rule is broken once, in a copy, and `lint-imports` refuses it (issue 2: prove it once)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The code and its rules, without the tests."""
    for name in ("service", "ops"):
        shutil.copytree(HERE / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "pyproject.toml", tmp_path)
    return tmp_path


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def plant(root: Path, module: str, line: str) -> None:
    path = root / module
    path.parent.mkdir(exist_ok=True)
    (path.parent / "__init__.py").touch()
    path.write_text((path.read_text(encoding="utf-8") if path.exists() else "") + f"\n{line}\n", encoding="utf-8")


def test_the_contract_is_kept(copy: Path) -> None:
    result = lint(copy)
    assert result.returncode == 0, result.stdout
    assert "0 broken" in result.stdout


@pytest.mark.parametrize(
    ("module", "line", "rule"),
    [
        ("service/store/files.py", "import service.vault.model", "Floors: imports point down BROKEN"),
        ("service/jobs/planted.py", "import service.web", "Floors: imports point down BROKEN"),
        ("service/attic/planted.py", "", "not listed as layers"),
        ("service/clock.py", "import ops.exits", "The service never imports the words a person types BROKEN"),
        ("service/vault/model.py", "import dulwich.repo", "Only history imports dulwich BROKEN"),
        ("service/history/__init__.py", "import apscheduler.job", "Only jobs imports apscheduler BROKEN"),
        ("service/search/__init__.py", "import pydantic", "The rooms below the wire know no wire BROKEN"),
    ],
)
def test_a_bad_import_is_refused(module: str, line: str, rule: str, copy: Path) -> None:
    plant(copy, module, line)
    result = lint(copy)
    assert result.returncode == 1, result.stdout + result.stderr
    assert rule in result.stdout + result.stderr
