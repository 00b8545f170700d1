"""More aids never raise a floor, and no bound stands where an aid breaks what it assumes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction

import pytest

from coherence.cli._run import run
from coherence.minimums.adversaries.search import adversaries
from coherence.minimums.assumptions import ASSUMPTIONS
from coherence.minimums.coordination import AIDS, TASKS, Task, cell_value, symbols
from coherence.minimums.registry import entry

INPUTS: Mapping[str, Fraction] = {
    "failures": Fraction(2), "processes": Fraction(5), "delay": Fraction(1, 100), "uncertainty": Fraction(1, 250),
    "n": Fraction(5), "duration": Fraction(40), "links": Fraction(4), "shards": Fraction(3),
    "slowest": Fraction(1), "fastest": Fraction(51, 50), "drift": Fraction(1, 100), "readers": Fraction(3),
}  # fmt: skip
SPANS = {name: (value, value) for name, value in INPUTS.items()}
EACH = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)


@EACH
def test_no_aid_raises_a_floor(task: Task) -> None:
    values = {cell.aids: cell_value(cell, SPANS).low for cell in task.cells}
    assert len(values) == len(task.cells)
    assert frozenset() in values
    for aids, value in values.items():
        assert value is not None
        for more, other in values.items():
            assert not aids < more or (other is not None and other <= value), (sorted(aids), sorted(more))


@EACH
def test_no_bound_assumes_what_an_aid_drops(task: Task) -> None:
    for cell in task.cells:
        dropped = {AIDS[aid][1] for aid in cell.aids} - {""}
        assert dropped <= set(ASSUMPTIONS)
        assert cell.bound or cell.why
        if cell.bound:
            assert not dropped & set(entry(cell.bound).bound.assumptions), sorted(cell.aids)
            assert cell.bound in {name for one in adversaries() for name in one.targets}


def test_the_inputs_of_the_tasks_are_those_of_their_bounds() -> None:
    assert set(symbols()) == set(INPUTS)


def test_what_a_detector_and_a_clock_buy() -> None:
    by_name = {task.name: {"+".join(sorted(c.aids)): cell_value(c, SPANS).low for c in task.cells} for task in TASKS}
    assert by_name["replicas"] == {
        "": math.inf,
        "leader": 5,
        "eventual_bound": 5,
        "lots": 5,
        "delay_bound": 3,
        "detector": 3,
    }
    assert by_name["replicas_that_lie"]["eventual_bound"] == 7
    assert by_name["read"] == {"": Fraction(1, 1000), "clock": 0}
    assert by_name["read_and_write"] == {"": Fraction(1, 100), "clock": Fraction(1, 100)}
    assert by_name["commit"] == {"": 8, "delay_bound": 6}
    assert by_name["partition"] == {"": 40, "clock": 40, "one_side": 0, "old_answers": 0}


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bound", "--buys", "failures=2", "delay=10 ms", "uncertainty=4 ms"]) == 0
    text = capsys.readouterr().out
    assert "impossible" in text
    assert "needs processes" in text
    assert "1 ms" in text
    assert run(["bound", "--buys", "failures=2", "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    replicas = next(task for task in document["tasks"] if task["task"] == "replicas")
    assert [(row["aids"], row["low"]) for row in replicas["models"][:2]] == [([], None), (["leader"], 5.0)]
    assert run(["bound", "--buys", "failure=2"]) == 2
    assert "did you mean 'failures'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("failures=0",), "one failure or more"),
        (("failures=1", "failures=2"), "given twice"),
        (("failures",), "is no input"),
        (("failures=2", "-o", "latex"), "text or json"),
        (("failures=2", "--list"), "--list"),
        (("delay=3 B",), "s expected"),
    ],
)
def test_what_is_wrong_is_named(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    assert run(["bound", "--buys", *words]) == 2
    assert said in capsys.readouterr().err
