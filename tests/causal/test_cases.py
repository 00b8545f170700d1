"""Markdown cases of designs with telemetry: a ```yaml design, then ```telemetry that says how its signals come about.

    ```telemetry rows=2000 seed=1 step=10
    disk.reads = wander(0.8, 1) + 5
    loader.wait = 2 * disk.reads + wander(0.5, 0.3)
    hidden x.y = wander(0.9, 1)          (drives others and is not written down)
    ```
`wander(memory, size)` is noise that remembers its past; `before(x, n)` is x, n rows earlier; `held(x, n, at)` is x as
it was at the last row `at`, `at` + n, `at` + 2 n and so on.  `loss=` names the loss that is to be explained.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from coherence.causal import checks
from coherence.causal.data.series import Floats, Series
from coherence.causal.session.context import Context, FitSettings
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Question
from coherence.findings.registry import FITTED, question_modules_of
from coherence.language.expressions import Tree, parse
from coherence.language.expressions.lower_numpy import lower_numpy
from coherence.language.expressions.tree import Call, Name, Number, rename, walk
from coherence.language.reading import read_text
from tests.case_files import CASES, FILE, Case, cases, differences
from tests.causal.systems import wandering

FUNCTIONS = {"wander": (2, 2), "before": (2, 2), "held": (3, 3), "max": (2, 9), "min": (2, 9)}


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
    """The formula over arrays; calls of `wander`, `before` and `held` become signals of their own first."""
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
        if isinstance(node, Call) and node.function == "held":
            inner, every, first = node.arguments
            assert isinstance(inner, Name)
            assert isinstance(every, Number)
            assert isinstance(first, Number)
            row = np.arange(rows)
            last = row - (row - int(first.value)) % int(every.value)
            return _named(drawn, made[inner.path][np.maximum(last, 0)])
        return node

    plain = _mapped(tree, known)
    assert not any(isinstance(node, Call) and node.function in {"wander", "before", "held"} for node in walk(plain))
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


ALL = [case for case in cases(CASES) if case.signals]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in ALL])
def test_case(case: Case) -> None:
    design = read_text(case.text, FILE)
    loss = dict(word.split("=") for word in case.settings.split()).get("loss")
    told = differences(case, checks.findings(Context(design, simulated(case), FitSettings(loss=loss))))
    assert not told, "\n".join(["", case.name, *told])


QUESTIONS = [question for module in question_modules_of(FITTED) for question in module.questions]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.code)
def test_every_question_about_telemetry_has_a_case_that_fires_and_one_that_does_not(question: Question) -> None:
    fires = [question.fires in {m.verdict for m in case.expected if m.code == question.code} for case in ALL]
    assert any(fires)
    assert not all(fires)
    proved = any(mark.code == question.code and mark.verdict is Verdict.PROVED for c in ALL for mark in c.expected)
    assert proved is question.proves
