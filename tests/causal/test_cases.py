"""Markdown cases of designs with telemetry: a ```yaml design, then ```telemetry that says how its signals come about.

    ```telemetry rows=2000 seed=1 step=10
    disk.reads = wander(0.8, 1) + 5
    loader.wait = 2 * disk.reads + wander(0.5, 0.3)
    hidden x.y = wander(0.9, 1)          (drives others and is not written down)
    ```
`wander(memory, size)` is noise that remembers its past; `before(x, n)` is x, n rows earlier.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from coherence.causal import checks
from coherence.causal.data.series import Floats, Series
from coherence.causal.session.context import Context, Settings
from coherence.findings.finding import Severity, Verdict
from coherence.findings.registry import FITTED, question_modules_of
from coherence.language.expressions import Tree, parse
from coherence.language.expressions.lower_numpy import lower_numpy
from coherence.language.expressions.tree import Call, Name, Number, rename, walk
from coherence.language.reading import read_text
from tests.causal.systems import wandering

CASES = Path(__file__).parent / "checks"
PAIR = re.compile(r"^```yaml([^\n]*)\n(.*?)^```\s*^```telemetry([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
MARK = re.compile(r"# (COH\d{3}) (conflict|proved|undecided|vacuous)")
FUNCTIONS = {"wander": (2, 2), "before": (2, 2), "max": (2, 9), "min": (2, 9)}


@dataclass(frozen=True)
class Case:
    """A design, how its telemetry comes about, and what is expected."""

    name: str
    design: str
    settings: str
    signals: str
    silent: bool


def cases() -> Iterator[Case]:
    for path in sorted(CASES.glob("*.md")):
        text = path.read_text()
        for match in PAIR.finditer(text):
            line = text[: match.start()].count("\n") + 1
            yield Case(f"{path.name}:{line}", match[2], match[3], match[4], "silent" in match[1])


def simulated(case: Case) -> Series:
    """The telemetry of a case."""
    said = dict(word.split("=") for word in case.settings.split())
    rows, rng = int(said.get("rows", 2000)), np.random.default_rng(int(said.get("seed", 1)))
    made: dict[str, Floats] = {}
    hidden: set[str] = set()
    for line in filter(None, (row.partition("#")[0].strip() for row in case.signals.splitlines())):
        name, _, formula = line.partition("=")
        words = name.split()
        made[words[-1]] = _values(parse(formula.strip(), FUNCTIONS), made, rows, rng)
        hidden |= {words[-1]} if words[0] == "hidden" else set()
    shown = [name for name in made if name not in hidden]
    return Series(tuple(shown), np.column_stack([made[name] for name in shown]), float(said.get("step", 1)))


def _values(tree: Tree, made: dict[str, Floats], rows: int, rng: np.random.Generator) -> Floats:
    """The formula over arrays; calls of `wander` and `before` become signals of their own first."""
    drawn: dict[str, Floats] = dict(made)

    def known(node: Tree) -> Tree:
        if isinstance(node, Call) and node.function == "wander":
            memory, size = (float(part.value) for part in node.arguments if isinstance(part, Number))
            return _named(drawn, wandering(rng, rows, memory, size))
        if isinstance(node, Call) and node.function == "before":
            inner, steps = node.arguments
            assert isinstance(inner, Name)
            assert isinstance(steps, Number)
            return _named(drawn, np.roll(made[inner.path], int(steps.value)))
        return node

    plain = _mapped(tree, known)
    assert not any(isinstance(node, Call) and node.function in {"wander", "before"} for node in walk(plain))
    return np.broadcast_to(np.asarray(lower_numpy(rename(plain, lambda path: path), drawn), float), (rows,)).copy()


def _named(drawn: dict[str, Floats], values: Floats) -> Name:
    name = f"drawn.{len(drawn)}"
    drawn[name] = values
    return Name(name)


def _mapped(tree: Tree, new: Callable[[Tree], Tree]) -> Tree:
    from coherence.language.expressions.tree import Arithmetic

    found = new(tree)
    if found is not tree:
        return found
    if isinstance(tree, Arithmetic):
        return Arithmetic(tree.op, _mapped(tree.left, new), _mapped(tree.right, new))
    if isinstance(tree, Call):
        return Call(tree.function, tuple(_mapped(part, new) for part in tree.arguments))
    return tree


ALL = list(cases())


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in ALL])
def test_case(case: Case) -> None:
    design = read_text(case.design, "case.yaml")
    found = list(checks.findings(Context(design, simulated(case), Settings())))
    seen = {(finding.places[0].line, finding.code, str(finding.verdict)) for finding in found}
    rows = enumerate(case.design.split("\n"), 1)
    wanted = {(line, mark[1], mark[2]) for line, row in rows for mark in MARK.finditer(row)}
    assert wanted <= seen, f"expected {wanted}, found {sorted(seen)}"
    loud = {
        (f.places[0].line, f.code, str(f.verdict))
        for f in found
        if f.verdict is Verdict.CONFLICT or f.severity is not Severity.INFO
    }
    assert loud <= wanted, [f.message for f in found]
    assert wanted or case.silent


def test_every_rule_about_telemetry_has_a_case() -> None:
    marked = {mark[1] for case in ALL for mark in MARK.finditer(case.design)}
    assert {question.code for module in question_modules_of(FITTED) for question in module.questions} <= marked
