"""Loops alone are run once, exactly."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from coherence.base.errors import InputError, UsageError
from coherence.language.reading import read_text
from coherence.simulate.study.exact_runs import NothingRunsError, exactly, loops_study
from coherence.simulate.study.loops_over_requests import run_model
from coherence.simulate.study.promises import PromiseWatch
from coherence.simulate.study.repeated_runs import PromiseVerdict, Study
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

EMPTY = "coherence: 1\nworkload: {web: {rate: 9 req/s}}\n"
LOOP = Path("specs/hpa-metric-lag/design.yaml").read_text(encoding="utf-8")

LAG = """coherence: 1
components:
  room: {{state: "temp' = {}", {}from: 10}}
loops:
  control:
    timescale: {{period: 60 s, phase: 60 s}}
    trigger: always
    actuation: {{signal: heater.power, law: set, to: "20 - room.temp", bounds: [0, 20], from: 5}}
"""


def test_a_design_without_loops_has_nothing_to_run_exactly() -> None:
    design = read_text(EMPTY, "d.yaml")
    with pytest.raises(NothingRunsError, match="nothing here runs"):
        loops_study(run_model(design), Setting(60.0), PromiseWatch(design, 60.0))


def test_one_exact_run_has_no_seeds_and_says_what_becomes_of_it() -> None:
    design = read_text(LOOP, "d.yaml")
    own = loops_study(run_model(design), Setting(600.0), PromiseWatch(design, 600.0))
    assert own.setting.seeds == ()
    assert len(own.samples) == 1
    assert own.notes


def test_a_time_with_too_many_instants_is_refused() -> None:
    with pytest.raises(UsageError, match="choose a shorter --for"):
        exactly(run_model(read_text(LOOP, "d.yaml")), Setting(1e9))


def test_a_flow_that_is_not_exact_is_told_to_go_in_steps_and_runs_so() -> None:
    lag = read_text(LAG.format("(10 - room.temp + 2 * heater.power) / 300 s", ""), "d.yaml")
    with pytest.raises(InputError) as refused:
        exactly(run_model(lag), Setting(600.0))
    (problem,) = refused.value.problems
    assert problem.message == "the flow of room.temp is not constant between events"
    assert problem.remedy.startswith("state room.temp in steps: `step: 1 s`")
    stepped = LAG.format("room.temp + (10 - room.temp + 2 * heater.power) / 300", "step: 1 s, ")
    instants = exactly(run_model(read_text(stepped, "d.yaml")), Setting(60.0))
    share = Fraction(299, 300) ** 60  # of the way to 10 + 2 * 5 that is left after 60 steps from 10
    assert instants[-1].sampled["room.temp"] == 20 - 10 * share


@pytest.mark.parametrize(
    ("formula", "message", "remedy", "mended"),
    [
        ("exp(0 - a.x)", "exp() of a rational", "in place of exp()", "max(0, 1 - a.x)"),
        ("1 / (a.x - 1)", "division by zero", "as max(x, 1) does", "1 / max(a.x - 1, 1)"),
        ("a.x * a.x / 3 + 1 / 7", "a number of more than", "floor(1000 * x) / 1000", "floor(a.x * 300) / 1000 + 1 / 7"),
    ],
)
def test_a_remedy_of_what_is_not_rational_works(formula: str, message: str, remedy: str, mended: str) -> None:
    words = 'coherence: 1\ncomponents:\n  a: {{state: "x\' = {}", step: 1 s, from: 1}}\n'
    with pytest.raises(InputError) as refused:
        exactly(run_model(read_text(words.format(formula), "d.yaml")), Setting(60.0))
    (problem,) = refused.value.problems
    assert message in problem.message
    assert remedy in problem.remedy
    assert exactly(run_model(read_text(words.format(mended), "d.yaml")), Setting(60.0))[-1].time == 60


RANGES = """coherence: 1
components: {pool: {desired: 0 .. 400, demand: {varies: 10 .. 20}, k: 3 .. 5}}
loops:
  scaler:
    trigger: always
    timescale: {period: 15 s, phase: 0 s}
    actuation: {signal: pool.desired, law: set, to: pool.demand * pool.k, from: 40, bounds: [0, 400]}
promises: {small: always pool.desired <= 60}
"""


def ranges(text: str = RANGES, **values: int) -> Study:
    given = {f"pool.{name}": Fraction(value) for name, value in values.items()}
    return study(read_text(text, "d.yaml"), Setting(600.0, values=given))


def test_a_run_says_which_value_of_each_range_it_takes() -> None:
    own, k = ranges(), "pool.k = 3, the lower end of 3 .. 5"
    assert own.assumptions == ("pool.demand = 10, the lower end of 10 .. 20, which varies", k)
    assert own.notes == ("while pool.demand does not change: settled from 0 s on",)
    assert own.promises[0].message == "at every instant of this run, with one value of each thing that is open"
    fixed = ranges(demand=20)
    assert (fixed.assumptions, fixed.notes) == ((k,), ("settled for ever from 0 s on",))
    whole = ranges(demand=20, k=5)
    assert (whole.assumptions, whole.promises[0].verdict) == ((), PromiseVerdict.BROKEN)
    assert ranges(demand=20, k=3).promises[0].message == "at every instant of this run"


def test_what_varies_may_stay_so_a_breach_for_ever_is_one() -> None:
    """The loop rests at 30 while the demand stays at 10: what is to rise above 50 never does."""
    rising = RANGES.replace("small: always pool.desired <= 60", "high: eventually_always pool.desired >= 50")
    (promise,) = ranges(rising).promises
    assert promise.verdict is PromiseVerdict.BROKEN
    assert promise.message.endswith("the run rests for ever from 15 s on, with one value of each thing that is open")
    (promise,) = ranges(rising.replace(">= 50", ">= 30")).promises
    assert promise.verdict is PromiseVerdict.HELD


@pytest.mark.parametrize(
    ("timescale", "notes"),
    [
        ("{period: 15 s, phase: 0 s}", ()),
        ("{period: 15 s}", ("phase of scaler = 0 s, since none is stated",)),
        ("{period: 15 s, phase: 0 s .. 5 s}", ("phase of scaler = 0 s",)),
    ],
)
def test_a_run_says_when_loops_act_first(timescale: str, notes: tuple[str, ...]) -> None:
    own = ranges(RANGES.replace("{period: 15 s, phase: 0 s}", timescale), demand=20, k=3)
    assert own.assumptions == notes
    assert own.promises[0].message.endswith("that is open") is bool(notes)


def test_a_run_says_which_of_two_loops_acts_first() -> None:
    loop = RANGES.partition("loops:\n")[2].partition("promises:")[0]
    other = loop.replace("scaler", "other").replace("pool.demand * pool.k, from: 40", "20")
    order = "scaler acts before other where both act at one instant, since no rank says otherwise"
    assert ranges(RANGES.replace("promises:", other + "promises:"), demand=20, k=3).assumptions == (order,)
    ranked = other.replace("trigger:", "rank: 2\n    trigger:")
    assert ranges(RANGES.replace("promises:", ranked + "promises:"), demand=20, k=3).assumptions == ()
