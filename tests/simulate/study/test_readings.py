"""Numbers of one run: means over time, extremes, reversals; by hand."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

from coherence.base.units import ONE, SECOND
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices, execute
from coherence.simulate.study.readings import _unit, of_loops, of_signals

TEXT = """coherence: 1
components: {plant: {state: "x' = x + job.v", step: 1 s, from: 0}}
loops:
  act:
    rank: 1
    timescale: {period: 2 s, phase: 0 s}
    trigger: {enter: x <= 0, leave: x >= 4}
    actuation: {}
  move:
    rank: 2
    timescale: {period: 2 s, phase: 0 s}
    rules: [{when: act, to: 2}, {when: not act, to: -2}]
    actuation: {signal: job.v, bounds: [-2, 2], from: 0}
"""
MODEL = elaborate(read_text(TEXT))
RUN = list(execute(MODEL, Choices({}, {}, ()), instants=8))  # x is left at 2, 4, 2, 0, 2, 4, 2, 0; v at 2, 2, -2, -2


def setting(until: float = 8.0, warmup: float = 0.0) -> Any:
    return cast("Any", SimpleNamespace(until=until, warmup=warmup))


def test_the_run_is_as_it_is_by_hand() -> None:
    assert [int(i.after["plant.x"]) for i in RUN] == [2, 4, 2, 0, 2, 4, 2, 0]
    assert [int(i.after["job.v"]) for i in RUN] == [2, 2, -2, -2, 2, 2, -2, -2]


def test_means_are_over_time_and_extremes_over_instants() -> None:
    told = {(of, what): number for (of, what, _), number in of_signals(MODEL, RUN, setting())}
    assert told["plant.x", "mean"] == 2
    assert (told["plant.x", "least"], told["plant.x", "most"], told["plant.x", "last"]) == (0, 4, 0)
    assert told["job.v", "mean"] == 0


def test_what_is_before_the_warm_up_is_left_out_and_the_last_lasts_to_the_end() -> None:
    # from 5 s on: 4 for a second, 2 for one, 0 for three
    told = {what: number for (of, what, _), number in of_signals(MODEL, RUN, setting(10.0, 5.0)) if of == "plant.x"}
    assert told == {"mean": 6 / 5, "least": 0, "most": 4, "last": 0}
    late = {what: number for (of, what, _), number in of_signals(MODEL, RUN, setting(8.0, 99.0)) if of == "plant.x"}
    assert late["last"] == late["most"] == 0


def test_loops_are_counted_by_what_they_change_and_how_often_they_turn() -> None:
    told = {(of, what): number for (of, what, _), number in of_loops(MODEL, RUN, setting())}
    assert told == {("act", "switches on"): 2, ("move", "writes"): 4, ("move", "reversals"): 3}
    after = {(of, what): number for (of, what, _), number in of_loops(MODEL, RUN, setting(warmup=1.0))}
    assert after == {("act", "switches on"): 1, ("move", "writes"): 3, ("move", "reversals"): 2}


def test_units_are_written_with_their_powers() -> None:
    assert [_unit(d) for d in (ONE, SECOND, SECOND * SECOND, ONE / SECOND, ONE / SECOND / SECOND)] == [
        "", "s", "s^2", "/s", "/s^2",
    ]  # fmt: skip
    assert Fraction(1) == 1
