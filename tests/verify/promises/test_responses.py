"""`after a then b within t` over states: the prover and the runs agree, and the ends of the time are exact."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from coherence.base.solver import recheck
from coherence.language.expressions import names as names_of
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.bounded_response import (
    BoundedResponse,
    ResponseSample,
    Waiting,
    conditions_of,
    observed,
    waits,
)
from coherence.simulate.execute.exact import Choices, Execution
from coherence.simulate.execute.slices import sliced
from coherence.verify.promises.outcomes import Open, Proved
from coherence.verify.promises.responses import Answered, Late, Never, answered

PLANT = """coherence: 1
components: {{tank: {{state: "x' = min(12, max(0, 0.5 * x + q.rate))", step: 1 s, from: 0 .. 6}}}}
loops:
  hot:
    rank: 1
    timescale: {{period: {one} s{phase}}}
    trigger: {{enter: x >= {high}, leave: x <= {low}}}
    actuation: {{}}
  fill:
    rank: 2
    timescale: {{period: {two} s{phase}{lands}}}
    rules: [{{when: hot, by: {down}}}, {{when: x < {high}, by: {up}}}]
    actuation: {{signal: q.rate, bounds: [-2, 6], from: 0}}
promises: {{r: after {first} then {then} within {within} s}}
"""
DRAIN = """coherence: 1
loops:
  drain:
    timescale: {{period: 30 s{phase}}}
    rules: [{{when: batch.running > 0, by: -10}}]
    actuation: {{signal: batch.running, bounds: [0, 40], from: {start}}}
promises: {{r: after {first} then {then} within {within} s}}
"""


def drawn(seed: int) -> str:
    draw = random.Random(seed)  # noqa: S311  (no secret)
    return PLANT.format(
        one=draw.choice([1, 2, 3]),
        two=draw.choice([1, 2, 4]),
        phase=draw.choice([", phase: 0 s", ""]),
        lands=draw.choice(["", ", lands: 1 s", ", lands: 2 s"]),
        high=draw.choice([8, 9]),
        low=draw.choice([2, 3]),
        down=draw.choice([-1, -2, -3]),
        up=draw.choice([1, 2]),
        first=draw.choice(["tank.x >= 7", "hot", "tank.x > 5 and q.rate > 0", "q.rate >= 3"]),
        then=draw.choice(["tank.x <= 3", "q.rate <= 0", "not hot", "tank.x <= 6", "q.rate < 2"]),
        within=draw.choice([1, 2, 3, 4, 6, 8, 12]),
    )


def decided(text: str, *, seconds: float = 2) -> tuple[Model, BoundedResponse, Answered]:
    model = elaborate(read_text(text))
    promise = model.promises["r"]
    response = conditions_of(model, promise)
    assert isinstance(response, BoundedResponse)
    return model, response, answered(model, promise, response, time_limit=seconds)


def late(model: Model, response: BoundedResponse, choices: Choices, *, seconds: int = 240) -> bool:
    """By the words of the promise: some time at which the first holds has no answer in time."""
    run, seen = Execution(model, choices), list[ResponseSample]()
    while run.next_time() <= seconds:
        seen += observed(run, run.advance(), response)
    asked = [(k, one.time) for k, one in enumerate(seen) if one.first and one.time <= seconds - response.within]
    # a state lasts until the next observation: an answer is in time if any state from then on reaches into the time
    return any(not any(later.then for later in seen[k:] if later.time <= since + response.within) for k, since in asked)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(9))
def test_what_is_proved_no_run_breaks(seed: int) -> None:
    model, response, found = decided(drawn(seed))
    part = sliced(model, tuple(dict.fromkeys(n for tree in response.trees for n in names_of(tree))))
    if isinstance(found, Late):
        assert late(part, response, found.choices)
    if isinstance(found, Proved | Never):
        draw = random.Random(seed)  # noqa: S311  (no secret)
        for _ in range(6):
            start = {p: Fraction(draw.randint(0, 48), 8) for p in part.states}
            phases = {x.name: Fraction(draw.randrange(16 * int(x.period)), 16) for x in part.loops if x.phase is None}
            assert not late(part, response, Choices(start, phases))


@pytest.mark.parametrize(
    ("phase", "within", "kind"),
    [
        (", phase: 0 s", 60, Proved),
        (", phase: 0 s", 59, Late),
        (", phase: 12 s", 72, Proved),
        (", phase: 12 s", 71, Late),
        ("", 90, Proved),  # any phase below 30 s: 90 s are never reached
        ("", 89, Late),
    ],
)
def test_the_ends_are_exact(phase: str, within: int, kind: type) -> None:
    text = DRAIN.format(phase=phase, start=40, first="batch.running > 30", then="batch.running <= 10", within=within)
    _, _, found = decided(text)
    assert isinstance(found, kind)
    if isinstance(found, Proved):
        assert found.certificate is not None
        pytest.importorskip("cvc5")
        assert recheck(found.certificate).unsat


def test_all_starts_of_a_range() -> None:
    """Without a stated beginning the run starts anywhere in the bounds; only some of the starts ask."""
    for within, kind in ((60, Proved), (50, Late)):
        text = DRAIN.format(
            phase=", phase: 0 s", start="0 .. 40", first="batch.running > 30", then="batch.running <= 10", within=within
        )
        assert isinstance(decided(text)[2], kind)


def test_what_is_never_asked_is_vacuous() -> None:
    text = DRAIN.format(phase="", start=40, first="batch.running > 40", then="batch.running <= 10", within=1)
    found = decided(text)[2]
    assert isinstance(found, Never)
    assert found.shown.certificate is not None


def test_an_answer_that_is_there_already_counts() -> None:
    text = DRAIN.format(phase="", start=40, first="batch.running >= 0", then="batch.running <= 40", within=0)
    assert isinstance(decided(text)[2], Proved)


def test_a_flowing_condition_is_open() -> None:
    text = """coherence: 1
components: {tank: {state: "x' = q.rate", from: 0}}
loops:
  fill:
    timescale: {period: 1 s, phase: 0 s}
    trigger: x < 5
    actuation: {signal: q.rate, law: set, to: 1, bounds: [0, 1], from: 0}
promises: {r: after tank.x > 2 then tank.x > 4 within 3 s}
"""
    assert isinstance(decided(text)[2], Open)


def test_a_wait_goes_on_in_the_next_lap() -> None:
    seen = [ResponseSample(Fraction(t), first=t == 3, then=t == 1) for t in range(4)]
    assert [w.served for w in waits(seen, 1, Fraction(3), Fraction(1))] == [Fraction(4)]
    assert [w.served for w in waits(seen, 1, Fraction(4), Fraction(1))] == [None]


def test_the_oldest_wait_decides() -> None:
    waiting = Waiting(Fraction(2))
    for time in range(3):
        waiting.see(ResponseSample(Fraction(time), first=True, then=False))
    assert not waiting.late(Fraction(2))
    assert waiting.late(Fraction(3))
