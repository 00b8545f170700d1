"""Linear verdicts on random designs with plants, beside a plain integrator that shares no code with them.

`COHERENCE_DRAW=all` takes all 5,000 designs, `COHERENCE_DRAW=1` the second part of 400, and so on (`tests/draws.py`).
By hand, going on where the log ends: `python -m tests.loops.designs.test_random_plants loops 0 5000 LOG`.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.equilibria import operating_point
from coherence.loops.designs.flow_feedback import flow_answers
from coherence.loops.designs.lap_matrices import LapError, closed
from coherence.loops.designs.lap_roots import roots
from coherence.loops.designs.linear import skeleton
from coherence.model.elaborate import elaborate
from tests import draws
from tests.loops.designs.dde import PlainDesign, PlainLoop, Term, measured_growth

CLEAR = 1e-3  # of growth or decay a lap: from here on a verdict must be right
EVERY, PARTS = 5_000, 400
ZERO = Fraction(0)


def plant(draw: random.Random, name: str, command: str) -> dict[str, list[Term]]:
    """Draws a lag, an integrator, a queue behind a transport, or a plant of second order, driven by a command."""
    kind, late = draw.choice(["lag", "integrator", "queue", "second"]), draw.choice([0, 0, 1, 3])
    pace, drive = draw.choice([0.05, 0.1, 0.3]), (command, draw.choice([0.05, 0.1, 0.2]), late)
    if kind == "lag":
        return {f"{name}.x": [(f"{name}.x", -pace, 0), drive]}
    if kind == "second":
        damping = draw.choice([0.05, 0.2, 0.6])
        return {
            f"{name}.x": [(f"{name}v.x", 1.0, 0)],
            f"{name}v.x": [(f"{name}.x", -pace, 0), (f"{name}v.x", -damping, 0), drive],
        }
    return {f"{name}.x": [(command, drive[1], late if kind == "queue" else 0)]}


def design(draw: random.Random) -> PlainDesign:
    """Draws one to six loops over a plant each, of two rates, some of which disturb each other."""
    count = draw.randint(1, 6)
    flows: dict[str, list[Term]] = {}
    for k in range(count):
        flows |= plant(draw, f"p{k}", f"c{k}.u")
    loops = []
    for k in range(count):
        period = draw.choice([1, 2, 4])
        gain, late = -draw.choice([0.1, 0.3, 0.8, 1.5, 3.0]), draw.choice([0, 1, 2, 5])
        terms: list[Term] = [(f"p{k}.x", gain, late)]
        if k and draw.random() < 0.5:
            terms.append((f"p{draw.randrange(k)}.x", gain * draw.choice([-0.3, 0.2, 0.5]), late))
        if k and draw.random() < 0.4:
            flows[f"p{draw.randrange(k)}.x"].append((f"p{k}.x", draw.choice([-0.02, 0.03]), 0))
        integrates = draw.random() < 0.3
        if integrates:
            terms = [(signal, weight / 4, delay) for signal, weight, delay in terms]
        lands = draw.choice([0, 0, 1, 3])
        loops.append(PlainLoop(f"c{k}.u", terms, period, draw.randrange(period), lands, integrates))
    return PlainDesign(flows, loops)


def flows_alone(draw: random.Random) -> PlainDesign:
    """Draws a ring of up to four levels with delays, and some levels that leak."""
    count = draw.randint(1, 4)
    flows: dict[str, list[Term]] = {}
    for k in range(count):
        drive = (f"p{(k + 1) % count}.x", draw.choice([-0.5, -0.2, 0.2, 0.5]), draw.choice([0, 1, 2, 5]))
        leak = (f"p{k}.x", -draw.choice([0.0, 0.1, 0.4]), draw.choice([0, 0, 1]))
        flows[f"p{k}.x"] = [drive, leak] if leak[1] else [drive]
    return PlainDesign(flows, ())


def text_of(plain: PlainDesign) -> str:
    """Renders the design in the language."""
    lines = ["coherence: 1", "components:"]
    for signal, terms in plain.flows.items():
        lines.append(f'  {signal[:-2]}: {{state: "x\' = ({_sum(terms)}) / 1 s", from: 1}}')
    lines += ["loops:"] if plain.loops else []
    for rank, loop in enumerate(plain.loops):
        clock = f"period: {loop.period} s, phase: {loop.phase} s, lands: {loop.lands} s"
        law = f'law: step, by: "{_sum(loop.terms)}"' if loop.integrates else f'law: set, to: "{_sum(loop.terms)}"'
        lines += [
            f"  l{rank}:",
            f"    timescale: {{{clock}}}",
            "    trigger: always",
            f"    rank: {rank}",
            f"    actuation: {{signal: {loop.signal}, {law}, bounds: {_bounds(loop)}, from: 1}}",
        ]
    return "\n".join(lines) + "\n"


def _bounds(loop: PlainLoop) -> str:
    return "[-100000.5, 100000]" if math.isinf(loop.low) else f"[{loop.low!r}, {loop.high!r}]"


def _sum(terms: Sequence[Term]) -> str:
    return " + ".join(
        f"({weight!r}) * " + (f"delayed({signal}, {late} s)" if late else signal) for signal, weight, late in terms
    )


def linear_verdict(text: str) -> tuple[str, float]:
    """Returns the verdict and the growth in 1/s that the network of the design gives."""
    model, _ = skeleton(elaborate(read_text(text, "design.yaml")))
    if not model.loops:
        points = [point for answer in flow_answers(model) for point in answer.points]
        if not points:  # a line of equilibria
            return "undecided", math.nan
        worst = max(points, key=lambda point: point.worst.abscissa)
        return worst.verdict, worst.worst.abscissa
    signals = {path: state.initial.low or ZERO for path, state in model.states.items()}
    signals |= {path: command.initial.low or ZERO for path, command in model.commands.items()}
    point = operating_point(model, signals)
    if point is None:
        return "undecided", math.nan
    try:
        lap = opened(model, point)
        judged = roots(closed(lap), lap.length)
    except LapError:
        return "undecided", math.nan
    rate = math.log(judged.growth) / float(lap.length) if judged.growth else -math.inf
    return judged.verdict, rate


def comparison(plain: PlainDesign) -> str:
    """Returns right, wrong, near the edge, or undecided.  What contradicts a verdict is the longest run: a mode that
    dies out may hide one that grows for longer than the shortest.
    """
    verdict, _ = linear_verdict(text_of(plain))
    if verdict == "undecided":
        return "undecided"
    lap = math.lcm(*(loop.period for loop in plain.loops)) if plain.loops else 1
    growth = 0.0
    for seconds in (300, 1200, 4800):
        growth = measured_growth(plain, seconds=seconds, window=seconds // 4, fine=8) * lap
        agrees = (growth > 0) is (verdict == "unstable")
        if agrees and abs(growth) > 10 * CLEAR * 300 / seconds:
            break
    if abs(growth) < CLEAR:
        return "near the edge"
    if verdict == "marginal":
        return "wrong"
    return "right" if (growth > 0) is (verdict == "unstable") else "wrong"


def drawn(kind: str, seed: int) -> PlainDesign:
    draw = random.Random(f"{kind} {seed}")  # noqa: S311  (the same in every run)
    return flows_alone(draw) if kind == "flows" else design(draw)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["flows", "loops"])
def test_no_verdict_is_wrong_and_few_are_undecided(kind: str) -> None:
    seeds = draws.drawn(range(EVERY), parts=PARTS)
    answers = {seed: comparison(drawn(kind, seed)) for seed in seeds}
    counted = Counter(answers.values())
    assert not [seed for seed, answer in answers.items() if answer == "wrong"]
    assert counted["undecided"] <= max(1, 0.03 * len(seeds)), counted
    assert counted["right"] >= 0.8 * len(seeds), counted


def main() -> None:
    """Appends the answer about each design of `KIND FIRST LAST` that the log has none of yet, and prints the counts."""
    kind, first, last, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    answers = {int(seed): answer for begins, seed, answer in (line.split(" ", 2) for line in lines) if begins == kind}
    with path.open("a", encoding="utf-8") as log:
        for seed in range(first, last):
            if seed not in answers:
                answers[seed] = comparison(drawn(kind, seed))
                print(kind, seed, answers[seed], file=log, flush=True)
    print(kind, dict(Counter(answers.values())))  # noqa: T201  (it is run by hand)


if __name__ == "__main__":
    main()
