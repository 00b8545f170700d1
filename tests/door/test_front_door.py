"""The front door: its names and signatures, its results, and that commands print the same numbers."""

from __future__ import annotations

import importlib
import inspect
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import coherence as co
from coherence.cli._run import run
from coherence.door.result import VerbResult

Results = dict[str, tuple[VerbResult, list[str]]]
SNAPSHOT = Path(__file__).parent / "signatures.txt"
LAG = """\
coherence: 1
components:
  tank: {state: "level' = (pump.flow - 2) / 60 s", from: 4}
loops:
  ctl:
    timescale: {period: 60 s, phase: 0 s}
    trigger: always
    actuation: {signal: pump.flow, law: set, to: "2 + 0.5 * (5 - tank.level)", bounds: [0, 10], from: 2}
"""
CALLS = """\
coherence: 1
workload: {users: {rate: 4 req/s}}
components:
  web: {copies: 2, takes: {serve: 200 ms}, queue: 10}
calls:
  - {from: users, to: web, deadline: 2 s, per_try: 1500 ms, tries: 3}
"""
TELEMETRY = "time,disk.load,q.wait\n" + "".join(
    f"{k},{(k * 7) % 11 + 3},{2 * ((k * 7) % 11 + 3) + (k * 5) % 3 * 0.1:.1f}\n" for k in range(400)
)
FIT = """\
coherence: 1
components:
  q: {wait: disk.load * cost, cost: 0 .. 10}
"""


def signatures() -> str:
    """Returns one line for each public name: a verb with its signature, a class with its public attributes."""
    lines = []
    for name in co.__all__:
        public = getattr(co, name)
        if isinstance(public, type):
            lines.append(f"class {name}")
        else:
            lines.append(f"{name}{inspect.signature(public)}")
    for kind in sorted(VerbResult.__subclasses__(), key=lambda each: each.__name__):
        names = sorted(name for name in dir(kind) if not name.startswith("_"))
        lines.append(f"class {kind.__name__}: {', '.join(names)}")
    return "\n".join(lines) + "\n"


def test_names_and_signatures_are_frozen() -> None:
    """After a change on purpose: python -m tests.door.test_front_door --update, and a line in CHANGELOG.md."""
    assert signatures() == SNAPSHOT.read_text(encoding="utf-8")


def test_every_verb_says_what_it_takes_returns_and_raises() -> None:
    for name in co.__all__:
        public = getattr(co, name)
        if isinstance(public, type):
            continue
        text = inspect.getdoc(co.__getattr__(name)) or ""
        parameters = [parameter.name for parameter in inspect.signature(public).parameters.values()]
        assert text.startswith("Returns "), name
        unnamed = [parameter for parameter in parameters if parameter not in text and parameter != "paths"]
        assert not unnamed, f"{name} does not say what {unnamed} mean"
        assert "Raises" in text or name == "bounds", name


def results(folder: Path) -> Results:
    """Returns each result, and the command that prints it."""
    design, calls, fitted, table = (folder / name for name in ("lag.yaml", "calls.yaml", "fit.yaml", "table.csv"))
    for path, text in ((design, LAG), (calls, CALLS), (fitted, FIT), (table, TELEMETRY)):
        path.write_text(text, encoding="utf-8")
    return {
        "check": (co.check(calls, select="COH201"), ["check", "--no-cache", "-s", "COH201", str(calls)]),
        "simulate": (
            co.simulate(design, until="10 min", runs=2),
            ["simulate", str(design), "--for", "10 min", "--runs", "2"],
        ),
        "analyze": (co.analyze(design), ["analyze", str(design), "--no-retune"]),
        "sweep": (
            co.sweep(design, {"loops.ctl.timescale.period": ("60 s", "120 s", 2)}),
            ["sweep", str(design), "-p", "loops.ctl.timescale.period=60 s:120 s:2"],
        ),
        "region": (
            co.region(calls, {"calls.0.tries": (1, 3)}, select="COH201", asks=20),
            ["region", str(calls), "-p", "calls.0.tries=1:3", "-s", "COH201", "--asks", "20"],
        ),
        "fit": (
            co.fit(fitted, table, loss="q.wait"),
            ["fit", str(fitted), "--telemetry", str(table), "--loss", "q.wait"],
        ),
        "bound": (
            co.bound("all_reduce_end_point", n="2 .. 8", size="8 GiB", bandwidth="300 GB/s"),
            ["bound", "all_reduce_end_point", "n=2..8", "size=8 GiB", "bandwidth=300 GB/s"],
        ),
        "floors": (co.floors(calls), ["bound", str(calls)]),
        "execute": (co.execute(design, until="5 min"), []),
    }


@pytest.fixture(scope="module")
def verbs(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return results(tmp_path_factory.mktemp("door"))


@pytest.mark.slow
def test_commands_print_what_the_door_returns(verbs: Results, capsys: pytest.CaptureFixture[str]) -> None:
    for name, (result, words) in verbs.items():
        if words:
            run([*words, "--output", "json"])
            assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(result.to_dict())), name


@pytest.mark.slow
def test_results_are_equal_frozen_and_can_be_pickled(verbs: Results) -> None:
    for name, (result, _) in verbs.items():
        assert pickle.loads(pickle.dumps(result)) == result, name  # noqa: S301  (what we wrote ourselves)
        with pytest.raises(AttributeError):
            result.data = {}  # type: ignore[misc]
        assert result.to_dict() == result.data
        assert result.to_dict() is not result.data
    assert co.execute(LAG, until=60) == co.execute(LAG, until="1 min") != co.execute(LAG, until=180)


@pytest.mark.slow
def test_results_are_short_in_a_terminal_and_tables_in_notebooks(
    verbs: Results,
) -> None:
    for name, (result, _) in verbs.items():
        assert len(repr(result).splitlines()) == 3, name
        assert max(map(len, repr(result).splitlines())) <= 200, name
        assert len(result.to_frame()) > 0, name
        assert "<table" in result._repr_html_()


@pytest.mark.slow
def test_what_can_be_seen_is_drawn_on_axes(verbs: Results) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    for name, (result, _) in verbs.items():
        plot: Callable[..., Any] | None = getattr(result, "plot", None)
        if plot is not None:
            axes = Figure().add_subplot()
            assert plot(axes) is axes, name
            assert axes.has_data(), name


def test_names_in_html_are_escaped() -> None:
    result = co.check(CALLS.replace("{from: users", "{note: a, objective: <script>, from: users"), select="COH2")
    assert "<script>" not in result._repr_html_()


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import coherence; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['__future__', 'coherence']"


def test_the_folder_of_the_engine_is_called_as_the_verb_of_its_name() -> None:
    study = importlib.import_module("coherence.simulate.study")
    assert inspect.signature(co.simulate) == inspect.signature(co.__getattr__("simulate"))
    assert study.__name__ == "coherence.simulate.study"


def test_a_name_that_there_is_not_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'chek'"):
        co.chek  # noqa: B018


if __name__ == "__main__" and "--update" in sys.argv:
    SNAPSHOT.write_text(signatures(), encoding="utf-8")
