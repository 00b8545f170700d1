"""The wheel works where the source tree is not: built, installed into an empty environment, and used."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
BIN = "Scripts" if os.name == "nt" else "bin"


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run outside the source tree, without the variables that would put it on the path."""
    environment = {
        name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    }
    environment["PYTHONSAFEPATH"] = "1"
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def must(*command: str | Path, cwd: Path) -> str:
    done = run(*command, cwd=cwd)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `venv/`, into which the freshly built wheel was installed."""
    folder = tmp_path_factory.mktemp("wheel")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / BIN / "python"
    must(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder / "dist", ROOT, cwd=folder)
    (wheel,) = (folder / "dist").glob("coherence_engine-*.whl")
    must(python, "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return folder


def test_the_package_is_the_installed_one(home: Path) -> None:
    printed = must(home / "venv" / BIN / "python", "-c", "import coherence; print(coherence.__file__)", cwd=home)
    assert Path(printed.strip()).is_relative_to(home / "venv")


def test_type_checkers_are_told_that_the_package_has_types(home: Path) -> None:
    code = "import coherence, pathlib; print(pathlib.Path(coherence.__file__).with_name('py.typed').is_file())"
    assert must(home / "venv" / BIN / "python", "-c", code, cwd=home).strip() == "True"


@pytest.mark.parametrize("catalogue", ["models", "specs"])
def test_both_catalogues_travel_whole(home: Path, catalogue: str) -> None:
    code = f"import coherence, pathlib; print(pathlib.Path(coherence.__file__).parent / '_shipped' / '{catalogue}')"
    shipped = Path(must(home / "venv" / BIN / "python", "-c", code, cwd=home).strip())
    wanted = {path.relative_to(ROOT / catalogue) for path in (ROOT / catalogue).rglob("*.yaml")}
    assert wanted
    assert {path.relative_to(shipped) for path in shipped.rglob("*.yaml")} == wanted


def test_the_demo_runs(home: Path) -> None:
    assert must(home / "venv" / BIN / "coherence", "demo", cwd=home).strip()


def test_the_core_needs_no_extra(home: Path) -> None:
    listed = must(home / "venv" / BIN / "python", "-m", "pip", "list", "--format", "freeze", cwd=home).lower()
    assert not {"sympy", "pandas", "control", "pgmpy"} & {line.split("==")[0] for line in listed.splitlines()}
