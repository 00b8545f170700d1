"""One instant, symbolically: what flows, lands, is sampled and remembered; and the orders of loops."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval, SampledLoop
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.instants import orders
from coherence.verify.systems.model_readings import readings
from tests.verify.systems.relation import only_run, only_run_of, plant

SWINGS = {"x": "12 if x < 5 else 2", "start": "2"}


@pytest.mark.parametrize(
    ("design", "expected"),
    [
        # x counts 0, 1, 2, ...: its value d seconds before, and 0 before the run
        ({"law": 'law: set, to: "delayed(x, 1 s)"'}, [0, 0, 1, 2, 3]),
        ({"law": 'law: set, to: "delayed(x, 3 s)"'}, [0, 0, 0, 0, 1, 2]),
        ({"law": 'law: set, to: "delayed(delayed(x, 1 s), 1 s)"'}, [0, 0, 0, 1, 2]),
        ({"law": 'law: set, to: "delayed(delayed(x, 2 s), 1 s)"'}, [0, 0, 0, 0, 1, 2]),
        ({"law": 'law: set, to: "delayed(x, 3 s)"', "times": ", lands: 1 s"}, [0, 0, 0, 0, 0, 1, 2]),
        # before a step x has stood for a second: the mean of 2 s at t = 2 is that of 1 and 2 (after the steps)
        ({"law": 'law: set, to: "mean_over(x, 2 s)"'}, [0, 0.5, 1.5, 2.5]),
        ({"law": 'law: set, to: "mean_over(x, 4 s)"'}, [0, 0.25, 0.75, 1.5, 2.5, 3.5]),
        ({"law": 'law: set, to: "mean_over(x, 2 s)"', **SWINGS}, [2, 7, 7, 7]),
        # commands land later: counted from what was commanded
        ({"law": "law: step, by: 1", "times": ", lands: 1 s"}, [0, 1, 2, 3]),
        ({"law": "law: step, by: 1", "times": ", lands: 2 s"}, [0, 0, 1, 2]),
        # a value is computed at once
        ({"law": 'law: set, to: "abs(x - 3)"'}, [3, 2, 1, 0, 1, 2]),
        ({"law": 'law: set, to: "min(x, 4, 9 - x)"'}, [0, 1, 2, 3, 4, 4, 3]),
        ({"law": 'law: set, to: "max(x, 5) if x < 3 or x > 6 else 0"'}, [5, 5, 5, 0, 0, 0, 0, 7]),
    ],
)
def test_the_relation_has_one_run_and_it_is_the_one_by_hand(design: dict[str, str], expected: list[float]) -> None:
    assert only_run(plant(**design), len(expected)) == expected


def test_the_first_sample_has_nothing_before_it_but_itself() -> None:
    text = plant(law='law: set, to: "previous(x)"').replace("period: 1 s, phase: 0 s", "period: 2 s, phase: 1 s")
    # sampled at 1, 3, 5 s as 1, 3, 5: written 1, then what the sample before saw
    assert only_run(text, 6) == [0, 1, 1, 1, 1, 3]


def test_what_is_commanded_stands_apart_from_what_has_landed() -> None:
    text = plant(law="law: step, by: 1", times=", lands: 2 s")
    assert only_run(text, 5, "job.act commanded") == [1, 2, 3, 4, 5]
    assert only_run(text, 5) == [0, 0, 1, 2, 3]


def test_a_plant_may_read_the_past_of_a_command() -> None:
    text = plant(x="x + delayed(job.act, 1 s)", law="law: step, by: 1")
    # act is 1, 2, 3, 4 from t = 0, 1, 2, 3; a second before the step it was sampled as 0, 0, 1, 2
    assert only_run(text, 5, "plant.x") == [0, 0, 1, 3, 6]


SENSOR = """
coherence: 1
components: {{web: {{state: "y' = 100 / web.desired", step: 30 s, from: 50}}}}
loops:
  hpa:
    timescale: {{period: 30 s, phase: 0 s}}
    target: {{signal: web.y, setpoint: 30, sensor: [{sensor}]}}
    actuation: {{signal: web.desired, law: proportional, bounds: [1, 10], from: 2}}
"""


@pytest.mark.parametrize(
    ("sensor", "expected"),
    [
        ("scrape 30 s", [4, 4, 4]),  # ceil(2 * 50 / 30) = 4; y = 25: ceil(4 * 25 / 30) = 4
        ("mean 60 s", [4, 5, 4, 3, 3, 4]),  # 50, then (50 + 25) / 2 = 37.5 over 4: 5
        ("max 60 s", [4, 7, 6, 4]),  # 50 for 60 s: ceil(4 * 50 / 30) = 7, then 25: ceil(7 * 25 / 30) = 6
        ("scrape 60 s", [4, 7, 4, 2]),  # 50 twice, then 100 / 7 twice
    ],
)
def test_a_sensor_shows_the_past_of_its_signal(sensor: str, expected: list[int]) -> None:
    text = SENSOR.format(sensor=sensor)
    (apart,) = [reading for reading in readings(elaborate(read_text(text))) if reading.discrete]
    assert only_run(text, len(expected), "web.desired", apart) == expected


TANK = """
coherence: 1
components: {{tank: {{state: "level' = ({rate}) / 1 s", from: {start}}}}}
loops:
  fill:
    timescale: {{period: {period} s, phase: {phase} s}}
    trigger: {{enter: tank.level <= 3, leave: tank.level >= 9}}
    actuation: {{signal: pump.rate, law: set, to: "5", bounds: [0, 5], from: 0}}
"""


def tank(*, rate: str = "pump.rate - 2", start: str = "4", period: str = "2", phase: str = "0") -> str:
    return TANK.format(rate=rate, start=start, period=period, phase=phase)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (tank(), [4, 0, 6, 12]),  # off until 3 was seen, at t = 2: from then on 3 more each second
        (tank(phase="0.5"), [3, 9, 15]),  # the first sample after half a second
        (tank(period="1.5"), [4, 1, 5.5, 10]),
        (tank(rate="pump.rate - 2 if not fill else 1"), [4, 0, 2, 4]),
    ],
)
def test_a_flow_moves_at_its_rate_from_one_instant_to_the_next(text: str, expected: list[float]) -> None:
    assert only_run(text, len(expected), "tank.level") == expected


@pytest.mark.parametrize(
    ("rate", "stops", "expected"),
    [("-3", Interval(Fraction(-1), None), [4, -1, -1]), ("3", Interval(None, Fraction(12)), [4, 10, 12, 12])],
)
def test_a_flow_goes_no_farther_than_its_stops(rate: str, stops: Interval, expected: list[int]) -> None:
    model = elaborate(read_text(tank(rate=rate)))
    stopped = {path: dataclasses.replace(state, range=stops) for path, state in model.states.items()}
    model = dataclasses.replace(model, states=stopped)
    assert only_run_of(model, len(expected), "tank.level") == expected


def ranked(*ranks: int) -> tuple[SampledLoop, ...]:
    (loop,) = elaborate(read_text(plant())).loops
    return tuple(dataclasses.replace(loop, name=f"{k}", rank=Fraction(rank)) for k, rank in enumerate(ranks))


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ((), [""]),
        ((1, 2, 3), ["012"]),
        ((3, 2, 1), ["210"]),
        ((2, 1, 1), ["120", "210"]),
        ((1, 1, 1), ["012", "021", "102", "120", "201", "210"]),
        ((2, 1, 2, 1), ["1302", "1320", "3102", "3120"]),
    ],
)
def test_loops_of_equal_rank_act_in_every_order(ranks: tuple[int, ...], expected: list[str]) -> None:
    assert ["".join(loop.name for loop in order) for order in orders(ranked(*ranks))] == expected


def test_more_than_four_of_equal_rank_are_refused() -> None:
    assert len(list(orders(ranked(1, 1, 1, 1, 2)))) == 24
    with pytest.raises(NotLinearError, match="more than four loops of equal rank"):
        list(orders(ranked(1, 1, 1, 1, 1)))
