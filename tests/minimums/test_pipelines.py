"""Pipelines: no executed order is shorter than its floor, and what each assumption buys."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.minimums.floors import Number, at
from coherence.minimums.ladder import ladder
from coherence.minimums.pipeline_runs import Pass, ended, makespan, needed, one_by_one, shortest, split, stage_floor
from coherence.minimums.registry import entry


def value(name: str, **inputs: Any) -> Number:
    return at(entry(name).bound, inputs)


def drawn(draw: random.Random, stages: int, batches: int, kinds: str) -> list[list[Pass]]:
    """Orders of a run in which every stage takes at random any pass that could be next: nothing waits for ever."""
    made: list[list[Pass]] = [[] for _ in range(stages)]
    left = {(kind, stage, batch) for kind in kinds for stage in range(stages) for batch in range(batches)}
    while left:
        ready = [one for one in sorted(left) if needed(one[0], one[1], one[2], stages) not in left]
        kind, stage, batch = draw.choice(ready)
        left.remove((kind, stage, batch))
        made[stage].append((kind, batch))
    return made


sizes = {"stages": st.integers(1, 5), "batches": st.integers(1, 6), "seed": st.integers(0, 10**6)}


@given(**sizes)
@settings(max_examples=100, deadline=None)
def test_no_order_of_unlike_stages_is_shorter_than_the_floor(stages: int, batches: int, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  (a run of a test)
    times = {kind: tuple(Fraction(draw.randint(0, 9)) for _ in range(stages)) for kind in "FB"}
    floor = value("pipeline_makespan", forward=times["F"], backward=times["B"], m=batches)
    for orders in (drawn(draw, stages, batches, "FB"), one_by_one(stages, batches)):
        found = makespan(orders, times)
        assert found is not None
        assert found >= floor


@given(**sizes)
@settings(max_examples=80, deadline=None)
def test_no_order_of_equal_stages_idles_less_than_the_bubble(stages: int, batches: int, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  (a run of a test)
    forward, backward = Fraction(draw.randint(1, 9)), Fraction(draw.randint(1, 9))
    times = {"F": (forward,) * stages, "B": (backward,) * stages}
    floor = value("pipeline_bubble_share", p=stages, m=batches)
    for orders, exact in ((drawn(draw, stages, batches, "FB"), False), (one_by_one(stages, batches), True)):
        found = makespan(orders, times)
        assert found is not None
        idle = 1 - batches * (forward + backward) / found
        assert idle >= floor
        assert idle == floor or not exact


@given(**sizes)
@settings(max_examples=80, deadline=None)
def test_no_order_of_split_backward_passes_idles_less_than_its_floor(stages: int, batches: int, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  (a run of a test)
    names = {"F": "forward", "B": "input_gradient", "W": "weight_gradient"}
    single = {kind: Fraction(draw.randint(1, 9)) for kind in names}
    times = {kind: (one,) * stages for kind, one in single.items()}
    given_times = {names[kind]: one for kind, one in single.items()}
    floor = value("pipeline_bubble_split", p=stages, m=batches, **given_times)
    for orders in (drawn(draw, stages, batches, "FBW"), split(stages, batches)):
        found = makespan(orders, times)
        assert found is not None
        assert 1 - batches * sum(single.values()) / found >= floor
    assert floor <= value("pipeline_bubble_share", p=stages, m=batches), "splitting the backward pass never costs"


@pytest.mark.parametrize(("p", "m"), [(2, 2), (4, 8), (8, 32), (5, 5)])
def test_the_published_schedules_attain_their_floors(p: int, m: int) -> None:
    """ZB-H1 with three equal passes: its third of the bubble is exactly what the flush alone costs."""
    equal = {"forward": Fraction(1), "input_gradient": Fraction(1), "weight_gradient": Fraction(1)}
    times = {kind: (Fraction(1),) * p for kind in "FBW"}
    assert makespan(split(p, m), times) == p - 1 + 3 * m
    whole = makespan(one_by_one(p, m), {"F": (Fraction(1),) * p, "B": (Fraction(2),) * p})
    assert whole == 3 * (m + p - 1)
    assert value("pipeline_zero_bubble_h1", **equal) == Fraction(p - 1) / (whole - 3 * m)


@pytest.mark.parametrize(("stages", "batches"), [(1, 2), (2, 2), (3, 2)])
def test_every_order_of_small_pipelines(stages: int, batches: int) -> None:
    draw = random.Random(stages)  # noqa: S311  (instances of a test)
    times = {kind: tuple(Fraction(draw.randint(1, 6)) for _ in range(stages)) for kind in "FB"}
    assert shortest(stages, batches, times) >= stage_floor(batches, times)


def test_orders_that_wait_for_each_other_have_no_makespan() -> None:
    """Stage 0 wants its backward pass before the forward pass that the last stage waits for."""
    times = {"F": (Fraction(1),) * 2, "B": (Fraction(1),) * 2}
    assert makespan([[("B", 0), ("F", 0)], [("F", 0), ("B", 0)]], times) is None
    assert ended([[], []], times) == {}


def test_what_the_assumptions_buy() -> None:
    """8 stages, 32 micro-batches: 7/39 of the device time idles; 7/103 with a split backward; 0 without a flush."""
    spans: dict[str, Any] = {"p": (8, 8), "m": (32, 32)}
    rungs = {rung.assumption: rung for rung in ladder(entry("pipeline_bubble_share").bound, spans)}
    assert rungs["unsplit_backward"].missing == ("forward", "input_gradient", "weight_gradient")
    flush = rungs["flush"].floor
    assert flush is not None
    assert flush.low == 0
    assert rungs["flush"].bought == pytest.approx(7 / 39)
    third = {name: (Fraction(1), Fraction(1)) for name in rungs["unsplit_backward"].missing}
    again = {r.assumption: r for r in ladder(entry("pipeline_bubble_share").bound, {**spans, **third})}
    assert again["unsplit_backward"].floor is not None
    assert again["unsplit_backward"].floor.low == Fraction(7, 103)


@pytest.mark.parametrize(
    ("forward", "backward"), [((), ()), ((1,), (1, 2)), ((1, -1), (1, 1)), (("x",), (1,)), ((float("nan"),), (1,))]
)
def test_stages_without_times_are_refused(forward: Any, backward: Any) -> None:
    with pytest.raises(UsageError, match="pipeline_makespan"):
        value("pipeline_makespan", forward=forward, backward=backward, m=2)
