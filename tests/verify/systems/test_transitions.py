"""The transition relation against the executor: every exact run is a run of the relation, whatever the design holds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Arithmetic, Call, Compare, Held, Logic, Number, Tree
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model, SampledRule
from coherence.simulate.execute.exact import Choices, execute
from coherence.simulate.execute.schedules import NotCommensurateError, schedules
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.piecewise_affine import AffineEdge, TransitionSystem, step
from coherence.verify.systems.registers import count
from coherence.verify.systems.transitions import Encoder, ModelReading
from tests.draws import drawn

State = tuple[str, tuple[Fraction, ...]]
MOST_EDGES = 400  # of a relation that is followed
HEAD = """
coherence: 1
components:
  plant: {{state: "x' = {plant}", step: {step} s, from: {start}}}
loops:
{loops}
"""


def random_loop(rng: Random, name: str, other: str) -> str:
    """One loop with whatever the language has."""
    signal = rng.choice(["x", "x", "plant.x + 1", "delayed(x, 1 s)", "delayed(x, 3 s)", "min(x, 1002)"])
    signal = rng.choice([signal, signal, "mean_over(x, 2 s)", "max(x, -1003)", "delayed(job.act, 2 s)"])
    low, high = rng.randint(2, 6), rng.randint(7, 12)
    above = f"{signal} >= {high}"
    trigger = rng.choice(
        [
            f'trigger: {{enter: "{above}", leave: "{signal} <= {low}"}}',
            f'trigger: "{above}"',
            f'trigger: "x < {high}"',
            f'trigger: "({above}) for {rng.choice([1, 2, 5])} s"',
            f'trigger: "not {other} and {signal} < {low + 4}"',
            'trigger: "x > previous(x)"',
            "",
        ]
    )
    by = rng.choice(["1", "2", "-1", "-3", "x / 4 - 2", "5 - x"])
    effect = rng.choice([f"law: step, by: {by}", f"law: step, by: {by}", 'law: set, to: "10 - x / 2"'])
    rules = ""
    if rng.random() < 0.25:
        rules, trigger = f'rules: [{{when: "{above}", by: -2}}, {{when: x < {low}, by: 1}}]', ""
        effect = ""
    limits = rng.choice(["", "", ", rate: [{by: 1, per: 2 s}]", ", rate: [{by: 2, per: 1 s, way: up}]"])
    limits += rng.choice(["", "", "", ", mode: once"])
    times = rng.choice(
        ["", "", ", cooldown: 2 s", ", hold_down: 2 s", ", hold_up: 3 s", ", hold_down: 1 s, hold_up: 2 s"]
    )
    period, lands = rng.choice([1, 1, 2, 3]), ", lands: LANDS s"
    phase = rng.choice(["", ", phase: 0 s", ", phase: 0.5 s"])
    rank = rng.choice(["", "rank: 1", "rank: 2"])
    bounds = f"[{rng.choice([0, 1])}, {rng.choice([6, 20])}]"
    lines = [
        f"  {name}:",
        f"    {rank}" if rank else "",
        f"    timescale: {{period: {period} s{times}{phase}{lands}}}",
        f"    {trigger}" if trigger else "",
        f"    {rules}" if rules else "",
        f"    actuation: {{signal: job.act{', ' if effect else ''}{effect}, bounds: {bounds}, from: 2{limits}}}",
    ]
    return "\n".join(line for line in lines if line)


def random_design(rng: Random) -> str:
    """Two loops on one command over a sampled plant."""
    plant = rng.choice(
        [
            "0.8 * x + 0.3 * job.act",
            "0.5 * x + job.act - 1",
            "max(0, x + job.act - 5)",
            "x + 0.25 * delayed(job.act, 1 s)",
        ]
    )
    names = ["left", "right"][: rng.choice([1, 2, 2])]
    lands = rng.choice(["0", "0", "1", "2", "1.5"])
    loops = "\n".join(random_loop(rng, n, names[-1 - k]) for k, n in enumerate(names))
    return HEAD.format(plant=plant, step=rng.choice([1, 2]), start=rng.choice(["3", "0 .. 12"]), loops=loops).replace(
        "LANDS", lands
    )


def looking_back(model: Model) -> Model:
    """Two functions that only sensors use, put where the text says min(x, 1002) and max(x, -1003)."""
    fields = ("trigger", "enter", "leave")
    loops = []
    for loop in model.loops:
        changed: dict[str, Any] = {name: _scraped(tree) for name in fields if (tree := getattr(loop, name)) is not None}
        rules = tuple(SampledRule(_scraped(rule.when), rule.by, rule.to) for rule in loop.rules)
        loops.append(replace(loop, rules=rules, **changed))
    return replace(model, loops=tuple(loops))


def _scraped(tree: Tree) -> Tree:
    match tree:
        case Call("min", (inner, Number(value=Fraction(numerator=1002)))):
            return Call("sampled", (inner, Number(Fraction(2))))
        case Call("max", (inner, Number(value=Fraction(numerator=-1003)) | Arithmetic())):
            return Call("max_over", (inner, Number(Fraction(3))))
        case Compare(op, left, right):
            return Compare(op, _scraped(left), _scraped(right))
        case Logic(op, terms):
            return Logic(op, tuple(_scraped(term) for term in terms))
        case Held(condition, duration):
            return Held(_scraped(condition), duration)
    return tree


def follows(model: Model, system: TransitionSystem, choices: Choices, encoder: Encoder, laps: int) -> Iterator[str]:
    """Complaints where no run of the system goes with the exact run."""
    moments, period = encoder.plan.moments, encoder.plan.hyperperiod
    run = {i.time: i for i in execute(model, choices, until=period * laps)}
    states = set(starts(system, encoder, choices))
    if not states:
        yield "no initial state"
    last: dict[str, object] = {}
    for lap, moment in itertools.product(range(laps), moments):
        time = moment.time + lap * period
        instant = run.get(time)
        last = dict(instant.after) if instant else last
        candidates = [v for v in last.values() if isinstance(v, Fraction)] if last else []
        reached = {s for state in states for s in successors(system, state, candidates)}
        states = {s for s in reached if not last or agrees(system, encoder, s, last)}
        if not states:
            yield f"at {float(time):g} s: {last} is reached by no edge ({len(reached)} others)"
            return


def starts(system: TransitionSystem, encoder: Encoder, choices: Choices) -> Iterator[State]:
    """The initial state with these values; registers follow by propagation of equalities."""
    values = {}
    for name, start in encoder.starts.items():
        if name in choices.values:
            values[name] = Fraction(choices.values[name])
        elif hasattr(start, "low") and start.low is not None:
            values[name] = start.low
    for mode, polyhedron in system.initial:
        known = dict(values)
        for _ in range(len(system.variables) + 1):
            for row in polyhedron:
                names = [
                    n for n, c in zip(system.variables, row.linear.coefficients, strict=True) if c and n not in known
                ]
                if row.relation == "==" and len(names) == 1:
                    index = system.variables.index(names[0])
                    rest = row.linear.constant + sum(
                        c * known[n]
                        for n, c in zip(system.variables, row.linear.coefficients, strict=True)
                        if c and n in known
                    )
                    known[names[0]] = -rest / row.linear.coefficients[index]
        point = tuple(known[name] for name in system.variables)
        if all(row.holds(point) for row in polyhedron):
            yield mode, point


def successors(system: TransitionSystem, state: State, candidates: list[Fraction]) -> Iterator[State]:
    mode, point = state
    for edge in system.edges:
        if edge.source == mode:
            used = used_choices(system, edge)
            for chosen in itertools.product(*([*candidates, Fraction(0)] if u else [Fraction(0)] for u in used)):
                following = step(edge, point, chosen)
                if following is not None:
                    yield edge.target, following


def used_choices(system: TransitionSystem, edge: AffineEdge) -> list[bool]:
    rows = [r.linear for r in edge.guard] + list(edge.update)
    first = len(system.variables)
    return [any(row.coefficients[first + k] for row in rows) for k in range(len(system.choices))]


def agrees(system: TransitionSystem, encoder: Encoder, state: State, after: dict[str, object]) -> bool:
    mode, point = state
    known = dict(zip(system.variables, point, strict=True))
    on = set(mode.split(" ")[1].split("+")) if " " in mode else set()
    return all(known[n] == v for n, v in after.items() if n in known) and all(
        (name in on) == after[name] for name in encoder.remembered
    )


def check(text: str, rng: Random, *, reading: ModelReading = ModelReading(), laps: int = 5) -> int:  # noqa: B008
    """Compare under a few schedules; the number of runs that were followed."""
    model = looking_back(elaborate(read_text(text)))
    if model.gaps:
        return 0
    done = 0
    try:
        found = list(itertools.islice(schedules(model), 40))
        for schedule in rng.sample(found, min(2, len(found))):
            encoder = Encoder(model, schedule, None, reading=reading)
            system = encoder.system()
            if len(system.edges) > MOST_EDGES:
                continue
            low = model.states["plant.x"].initial.low if "plant.x" in model.states else None
            high = model.states["plant.x"].initial.high if "plant.x" in model.states else None
            for _ in range(2):
                values = {}
                if low is not None and high is not None and low != high:
                    values["plant.x"] = low + Fraction(rng.randint(0, 12), 12) * (high - low)
                for order in itertools.islice(itertools.permutations([loop.name for loop in model.loops]), 2):
                    kept = sorted(order, key=lambda n: next(x.rank for x in model.loops if x.name == n))
                    choices = Choices(values, schedule.phases, tuple(kept))
                    complaints = list(follows(model, system, choices, encoder, laps))
                    assert not complaints, (text, schedule.phases, values, kept, complaints)
                    done += 1
    except (NotLinearError, NotExactError, NotCommensurateError):
        return done
    return done


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(st.randoms(use_true_random=False))
def test_every_exact_run_is_a_run_of_the_relation(rng: Random) -> None:
    check(random_design(rng), rng)


@pytest.mark.slow
def test_every_exact_run_of_many_designs_is_a_run_of_the_relation() -> None:
    seeds = drawn(range(130), parts=2)
    followed = sum(check(random_design(rng), rng) > 0 for rng in map(Random, seeds))
    assert followed >= 6 * len(seeds) // 13


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 11), min_size=1), st.integers(-30, 30), st.integers(0, 30), st.sampled_from([1, 2, 3]))
def test_times_are_counted_as_they_repeat(times: set[int], low: int, width: int, scale: int) -> None:
    found = count(
        [Fraction(t, scale) for t in times], Fraction(12, scale), Fraction(low, scale), Fraction(low + width, scale)
    )
    assert found == sum(low < t <= low + width for k in range(-9, 9) for t in (x + 12 * k for x in times))


def test_a_flow_at_constant_rates_moves_between_instants() -> None:
    text = """
coherence: 1
components: {tank: {state: "level' = (pump.rate - 2) / 1 s", from: 0 .. 4}}
loops:
  fill:
    timescale: {period: 2 s, phase: 0.5 s}
    trigger: {enter: tank.level <= 3, leave: tank.level >= 9}
    actuation: {signal: pump.rate, law: set, to: "5", bounds: [0, 5], from: 0}
  rest:
    timescale: {period: 2 s, phase: 0.5 s}
    trigger: not fill
    actuation: {signal: pump.rate, law: set, to: "0", bounds: [0, 5]}
"""
    model = elaborate(read_text(text))
    assert not model.gaps
    encoder = Encoder(model, next(iter(schedules(model))), None)
    system = encoder.system()
    for level in (0, 1, 4):
        for order in itertools.permutations(["fill", "rest"]):
            choices = Choices({"tank.level": Fraction(level)}, {}, order)
            assert not list(follows(model, system, choices, encoder, 12))
