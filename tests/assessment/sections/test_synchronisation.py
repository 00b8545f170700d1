"""The section on synchronisation: loops at one phase come to 100 %, and those in opposite directions are told."""

from __future__ import annotations

import random

import pytest

from coherence.assessment.sections import synchronisation
from coherence.simulate.study.course import WriteMark
from tests.assessment.run_assessments import assessed, rendered


def _acts(loop: str, times: list[float], *, up: bool = True) -> list[WriteMark]:
    return [WriteMark(time, loop, f"{loop}.x", 0.0 if up else 1.0, 1.0 if up else 0.0) for time in times]


def test_loops_at_one_phase_are_synchronised_and_told_to_be_against_each_other() -> None:
    writes = _acts("a", [10.0 * k + 3 for k in range(9)]) + _acts("b", [10.0 * k for k in range(10)], up=False)
    text = rendered(synchronisation.section(assessed(writes=writes)))
    row = text.split("a between b")[1]
    assert row.startswith('</td><td class="n">9</td><td class="n">100 %</td>')
    assert '<td class="n">100 %</td></tr>' in row  # every act of a follows one of b in the other direction


def test_phases_all_around_come_to_nothing() -> None:
    writes = _acts("a", [10.0 * k + k for k in range(10)]) + _acts("b", [10.0 * k for k in range(12)])
    assert ">0 %</td>" in rendered(synchronisation.section(assessed(writes=writes))).split("a between b")[1]


@pytest.mark.parametrize("seed", range(20))
def test_phases_do_not_depend_on_the_unit_or_the_origin_of_time(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    times, beats = sorted(draw.uniform(0, 100) for _ in range(12)), [12.5 * k for k in range(9)]
    scale, move = draw.uniform(0.001, 1000), draw.uniform(-50, 50)
    plain = {"a": _acts("a", times), "b": _acts("b", beats)}
    moved = {name: _acts(name, [mark.time * scale + move for mark in marks]) for name, marks in plain.items()}
    before, after = (synchronisation._coherence(acts, "a", "b") for acts in (plain, moved))
    assert before == pytest.approx(after, abs=1e-6)


def test_one_loop_alone_is_not_drawn() -> None:
    assert "fewer than two loops" in rendered(synchronisation.section(assessed(writes=_acts("a", [1.0, 2.0]))))
