"""Conditions that come, or come to stay: the bound in time against exact runs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.clock import now
from coherence.language.expressions import parse
from coherence.language.expressions.tree import rename
from coherence.simulate.execute.exact import Choices, execute
from coherence.verify.convergence.liveness import Come, comes
from coherence.verify.systems.cases import NotLinearError
from tests.verify.promises.plants import model_of

TEXT = """coherence: 1
components: {{plant: {{state: "x' = 0.5 * x + job.v", step: 1 s, from: 0 .. 40}}}}
loops:
  act:
    timescale: {{period: {period} s, phase: 0 s}}
    actuation: {{signal: job.v, to: {to}, bounds: [-9, 9], from: 0}}
promises: {{p: always x <= 99}}
"""


def come(condition: str, *, stays: bool, period: int = 1, to: str = "1", seconds: float = 10.0) -> Come | str:
    model = model_of(TEXT.format(period=period, to=to))
    return comes(model, rename(parse(condition), model.resolve), stays=stays, deadline=now() + seconds)


def last_break(limit: int, start: int) -> int:
    """When x was last above the limit, in seconds; -1: never."""
    run = execute(model_of(TEXT.format(period=1, to="1")), Choices({"plant.x": Fraction(start)}), instants=40)
    return max((int(i.time) for i in run if i.after["plant.x"] > limit), default=-1)


@pytest.mark.parametrize("limit", [3, 5, 12])
@pytest.mark.parametrize("stays", [True, False])
def test_what_comes_has_a_bound_that_every_run_keeps(limit: int, stays: bool) -> None:
    shown = come(f"x <= {limit}", stays=stays)
    assert isinstance(shown, Come)
    slowest = max(last_break(limit, start) for start in range(41))
    assert slowest < shown.within <= 4 * (slowest + 3)
    assert len(shown.certificates) == 1
    assert len(shown.readings) == 1


def test_a_slower_lap_takes_longer() -> None:
    fast, slow = come("x <= 5", stays=True), come("x <= 5", stays=True, period=3)
    assert isinstance(fast, Come)
    assert isinstance(slow, Come)
    assert slow.within % 3 == 0
    assert slow.within >= fast.within


@pytest.mark.parametrize("stays", [True, False])
def test_what_never_comes_is_not_proved(stays: bool) -> None:
    assert isinstance(come("x <= 1.5", stays=stays, seconds=1), str)  # x comes to 2


def test_a_condition_on_what_flows_is_refused() -> None:
    model = model_of(TEXT.format(period=1, to="1").replace("x' = 0.5 * x + job.v\", step: 1 s", "x' = job.v / 1 s\""))
    with pytest.raises(NotLinearError, match="between the instants"):
        comes(model, rename(parse("x == 3"), model.resolve), stays=False, deadline=now() + 1)
