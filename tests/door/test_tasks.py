"""What a researcher does in at most ten lines each: verify, simulate, stability, causes, minimums; and with types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

TASKS = {
    "verify": """
d = co.read(SPECS / "retry-storm" / "design.yaml")
report = co.check(d, time_limit=30)
table = report.to_frame()[["code", "verdict", "certainty", "of", "file", "line", "message"]]
conflict = report.conflicts[0]
assert conflict.evidence.witness and conflict.places[0].line
call, web = {"from": "a", "to": "web", "deadline": "2 s", "per_try": "1.5 s", "tries": 3}, {"takes": {"serve": "1 s"}}
fixed = co.fix({"coherence": 1, "components": {"web": web}, "calls": [call]}, select="COH201")
assert fixed.removed and fixed.diff and not co.check(fixed.design, select="COH201").conflicts
assert nx.shortest_path(co.graph(d), "clients", "workers") == ["clients", "workers"]
""",
    "simulate": """
a, b = (co.read(SPECS / name / "design.yaml") for name in ("retry-storm", "retry-storm-repaired"))
study = co.simulate(a, until="30 s", runs=3, against=b)
t = study.to_frame()
assert len(t[t.what.eq("P99")].sort_values("mean")) == 2
assert study.series("workers.queue").index.name == "time_s"
run = co.execute(SPECS / "hpa-metric-lag" / "design.yaml", until=600)
ax = run.to_frame()["pool.replicas"].plot(drawstyle="steps-post")
assert run.orbit is not None and run.actions.groupby("loop").size()["hpa"] > 100
""",
    "stability": """
plant = control.tf([0.05], [1, 0])
net = co.network({"plant": plant}, [("plant", "plant", -1)], delays={"plant": 10.0})
s = co.analyze(net)
assert s.verdict == "stable"
gain, phase, *_ = control.stability_margins(s.linearize("plant").L)
assert abs(phase - (90 - 0.5 * 180 / np.pi)) < 1
sampled = co.network({"plant": plant, "law": control.tf([1], [1], 15)}, [("plant", "law"), ("law", "plant", -3)])
assert co.analyze(sampled).verdict == "unstable"
""",
    "causes": """
df = pd.read_csv(SPECS / "loss-attribution" / "telemetry.csv", index_col="time")
fit = co.fit(SPECS / "loss-attribution" / "design.yaml", df, loss="L_struct")
shares = fit.shares()
assert abs(shares["amount"].sum() - 180.729) < 0.01
assert fit.graph.has_edge("network.stall", "h100.barrier")
assert fit.do({"network.stall": 10.0}).set_index("signal").loc["L_struct", "level"] < 180
model = fit.to_pgmpy().model
assert len(model.nodes()) >= len(fit.graph) and fit.off("packer")["without"]["value"] < 180
""",
    "minimums": """
b = co.bound("all_reduce_end_point", n=8, size="8 GiB", bandwidth="300 GB/s")
n, size = 8, 8 * 2**30
assert abs(b.value - 2 * (n - 1) / n * size / 300e9) < 1e-12
solved = sympy.solve(sympy.Eq(b.formula.subs({b.symbols["n"]: n, b.symbols["size"]: size}), sympy.Rational(1, 20)))
assert abs(float(solved[0]) - 2 * 7 / 8 * size * 20) < 1
assert b.over(n=8, size="8 GiB", bandwidth=("250 GB/s", "300 GB/s")).low == b.value
floors = co.floors(SPECS / "retry-storm" / "design.yaml").to_frame()
assert set(floors["bound"]) >= {"erlang_wait", "servers_for_load"} and all(p.holds for p in b.prove())
""",
}
LIBRARIES = "coherence as co, control, networkx as nx, numpy as np, pandas as pd, sympy"
USER = '''
from __future__ import annotations

from pathlib import Path

import coherence as co
from coherence import CoherenceError, Design, Finding, InputError, Verdict

TEXT = """
coherence: 1
components: {web: {takes: {serve: 200 ms}}}
calls:
  - {from: users, to: web, deadline: 2 s, per_try: 1500 ms, tries: 3}
"""


def first(findings: tuple[Finding, ...], verdict: Verdict) -> Finding | None:
    return next((finding for finding in findings if finding.verdict is verdict), None)


def lines(design: Design) -> dict[str, int]:
    report = co.check(design, select=["COH2"], time_limit=10)
    return {finding.code: finding.places[0].line for finding in report if finding.places}


def study(path: Path) -> float:
    result = co.simulate(path, until="1 min", runs=3, against=TEXT, values={"web.rate": "3 req/s"})
    figures = [reading.value for own in result.studies for reading in own.readings]
    return sum(figures)


def settles(path: Path) -> bool:
    analysis = co.analyze(path, time_limit=5)
    region = co.region(path, {"calls.0.tries": (1, 3)}, asks=20)
    mapped = co.sweep(path, {"loops.hpa.target.setpoint": ("30 %", "80 %", 6)})
    return analysis.verdict == "settles" and region.share("safe") > 0.5 and len(mapped.cells) == 6


def numbers() -> tuple[float, float | None]:
    bound = co.bound("all_reduce_end_point", n=8, size="8 GiB", bandwidth=("250 GB/s", "300 GB/s"))
    return bound.low, bound.attained


def main() -> int:
    try:
        design = co.read(TEXT, name="here")
    except InputError as error:
        return len(error.problems)
    except CoherenceError as error:
        raise SystemExit(str(error)) from None
    repaired = co.fix(design, select="COH201")
    known: str = repaired.diff
    run = co.execute({"coherence": 1}, until=60, order=("hpa",))
    fitted = co.fit(design, "telemetry.csv", loss="web.wait", window=(0.0, 60.0))
    worst = first(fitted.findings, Verdict.CONFLICT)
    graph = co.graph(design, findings=[worst] if worst else [])
    return len(known) + len(run.instants) + len(lines(design)) + int(graph.number_of_nodes()) + len(co.bounds())
'''


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_a_task_is_done_in_ten_lines(task: str) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    text = TASKS[task].strip()
    assert len(text.splitlines()) <= 10
    head = f"import {LIBRARIES}\nfrom tests.paths import SPECS\n"
    done = subprocess.run([sys.executable, "-c", head + text], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_script_of_sixty_lines_passes_mypy_strict(tmp_path: Path) -> None:
    assert len(USER.strip().splitlines()) >= 55
    (tmp_path / "script.py").write_text(USER, encoding="utf-8")
    words = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--ignore-missing-imports",
             "--cache-dir", str(tmp_path / "cache"), str(tmp_path / "script.py")]  # fmt: skip
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
