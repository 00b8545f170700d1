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


@pytest.mark.parametrize("spec", ["retry-storm", "throttle-backfill-repaired"])
def test_a_shipped_design_gives_what_is_expected(home: Path, spec: str) -> None:
    code = "import coherence, pathlib; print(pathlib.Path(coherence.__file__).parent / '_shipped' / 'specs')"
    shipped = must(home / "venv" / BIN / "python", "-c", code, cwd=home).strip()
    must(home / "venv" / BIN / "coherence", "check", "--expect", f"{shipped}/{spec}", cwd=home)


DESIGN = """coherence: 1
components:
  web: {takes: {serve: 200 ms}, servers: 4}
  c: {wait: web.load * one, one: 0 .. 5}
workload: {users: {rate: 5 req/s}}
calls:
  - {from: users, to: web, deadline: 2 s, per_try: 1500 ms, tries: 3, on_timeout: abandon}
"""
HPA = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 10
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
"""
RUNS = {  # each command, at its quickest
    "analyze": ["d.yaml", "--time-limit", "5"], "baseline": ["write", "d.yaml"], "bound": ["erlang_loss"],
    "check": ["d.yaml"], "demo": ["--help"], "diff": ["d.yaml", "d.yaml", "-s", "COH201"], "explain": ["COH201"],
    "fit": ["d.yaml", "--telemetry", "t.csv"], "graph": ["d.yaml"],
    "import": ["all", "hpa.yaml"], "init": ["--to", "new"], "inventory": ["d.yaml"], "overlay": ["hpa.yaml"],
    "rank": ["rank.csv", "--incident", "900..1000"], "region": ["d.yaml", "-p", "calls.0.tries=1:2"],
    "report": ["d.yaml", "-o", "page.html"], "reproduce": ["d.yaml", "--with", "envoy", "--dry-run"],
    "rules": [], "schema": [],
    "simulate": ["d.yaml", "--for", "5 s", "--warm-up", "0 s", "--runs", "2"],
    "sweep": ["d.yaml", "-p", "calls.0.tries=1:2:2"],
}  # fmt: skip
OF_AN_EXTRA = {"export", "lsp"}  # systems of python-control; a server of pygls
OPEN_ENDED = {"watch"}  # needs a server, and goes on until Ctrl-C


def test_the_default_install_runs_every_command(home: Path) -> None:
    coherence = home / "venv" / BIN / "coherence"
    (home / "d.yaml").write_text(DESIGN, encoding="utf-8")
    (home / "hpa.yaml").write_text(HPA, encoding="utf-8")
    rows = "".join(f"{n},{n % 7},{2 * (n % 7) + n % 3}\n" for n in range(1000))
    (home / "t.csv").write_text(f"time,web.load,c.wait\n{rows}", encoding="utf-8")
    (home / "rank.csv").write_text(f"time,web_latency,db_latency\n{rows}", encoding="utf-8")
    listed = must(coherence, "--help", cwd=home).partition("Commands:")[2].partition("\n\n")[0]
    assert {line.split()[0] for line in listed.splitlines() if line.strip()} == {*RUNS, *OF_AN_EXTRA, *OPEN_ENDED}
    for command, words in RUNS.items():
        done = run(coherence, command, *words, cwd=home)
        assert (command, done.returncode) in {(command, 0), (command, 1)}, done.stderr
        assert "pip install" not in done.stdout + done.stderr


def test_what_an_option_needs_is_named(home: Path) -> None:
    coherence = home / "venv" / BIN / "coherence"
    lag = (ROOT / "specs" / "hpa-metric-lag" / "design.yaml").read_text(encoding="utf-8")
    (home / "lag.yaml").write_text(lag, encoding="utf-8")
    export = ["export", "lag.yaml", "--as", "json", "--branch", "0"]
    for words in (["lsp"], export, ["fit", "d.yaml", "--telemetry", "t.csv", "--second-opinion"]):
        done = run(coherence, *words, cwd=home)
        assert done.returncode == 2
        assert "pip install" in done.stderr


def test_the_core_needs_no_extra(home: Path) -> None:
    listed = must(home / "venv" / BIN / "python", "-m", "pip", "list", "--format", "freeze", cwd=home).lower()
    assert not {"sympy", "pandas", "control", "pgmpy"} & {line.split("==")[0] for line in listed.splitlines()}
