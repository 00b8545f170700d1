"""Half-spaces of parameters beside brute force on grids, and slow rests by Lyapunov functions beside exact runs."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator, Mapping
from fractions import Fraction

from bench.harness import Row, on_all_cores
from coherence.checking.answers import ask_all
from coherence.exploring.box_answers import edit_of
from coherence.exploring.half_spaces import inside
from coherence.exploring.regions import region
from coherence.exploring.render_half_spaces import beside
from coherence.exploring.swept_numbers import axes
from coherence.findings import repairs
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices, execute
from coherence.verify.promises.decisions import Proved, decide

DESIGNS, STEPS, LIMIT = 12, 9, 20.0
KEYS = (("calls.0.deadline", 1, 40), ("calls.0.per_try", 1, 12), ("calls.0.pause", 0, 6))
SLOW = """
coherence: 1
components:
  a: {{state: "x' = {pole} * x + 0.02 * b.y", step: 1 s, from: 0 .. 60}}
  b: {{state: "y' = 0.97 * y - 0.02 * a.x + f.v", step: 1 s, from: 0 .. 60}}
loops:
  cool:
    timescale: {{period: 1 s, phase: 0 s}}
    actuation: {{signal: f.v, law: set, to: "1 - a.x / 100", bounds: [-50, 50], from: 0}}
promises: {{p: eventually_always a.x <= {most}}}
"""


def rows() -> Iterator[Row]:
    """All rows of this part."""
    yield from half_space_rows()
    yield from slow_rows()


def half_space_rows() -> Iterator[Row]:
    """Random calls: is each half-space the closed form, and does it hold on a grid of the design itself?"""
    draw = random.Random(3)  # noqa: S311
    drawn = [
        (draw.randint(2, 6), [[draw.randint(2 * low, 2 * high) for _, low, high in KEYS] for _ in range(STEPS)])
        for _ in range(DESIGNS)
    ]
    exact, wrong, spent = map(sum, zip(*on_all_cores(_half_spaces, drawn), strict=True))
    points = DESIGNS * STEPS
    yield Row("half-spaces that are the closed form", exact, f"== {DESIGNS}", "designs", "boxes alone: none")
    yield Row("points of a safe half-space in conflict", wrong, "== 0", "", f"{points} points asked")
    yield Row("three numbers of a call: boxes and half-space", spent / DESIGNS, "<= 5", "s", "processor time")


def _half_spaces(drawn: tuple[int, list[list[int]]]) -> tuple[int, int, float]:
    """Half-spaces of a call that are the closed form, drawn points in one that are in conflict, processor seconds."""
    tries, points = drawn
    own = [module for module in question_modules() if module.questions[0].code == "COH201"]
    call = f"from: a, to: b, deadline: 10 s, per_try: 3 s, tries: {tries}, pause: 1 s, retry_when: [timeout]"
    sources = {"d": f"coherence: 1\ncalls: [{{{call}}}]\n"}
    keys = [f"{key}={low} s:{high} s" for key, low, high in KEYS]
    begun = time.process_time()
    made = region(keys, sources, _read, own, most_asks=10)
    found = [one for part in beside(made, keys, sources, _read, own, time_limit=LIMIT) for one in part.result.sets]
    spent = time.process_time() - begun
    form = {(Fraction(-1), Fraction(tries), Fraction(tries - 1), Fraction(0))}
    exact = {(*r.form.coefficients, r.form.constant) for one in found for r in one.rows} == form
    chosen, wrong = axes(keys, sources), 0
    for halves in points:
        at = [Fraction(half, 2) for half in halves]
        edited = repairs.apply([edit_of(a, (n, n)) for a, n in zip(chosen, at, strict=True)], sources)
        assert edited is not None
        answers = ask_all(Subject(_read(edited), edited, LIMIT), own)
        broken = any(one.verdict is Verdict.CONFLICT for one in answers)
        wrong += broken and any(inside(one.rows, tuple(at)) for one in found)
    return exact, wrong, spent


def slow_rows() -> Iterator[Row]:
    """Pairs of states with slow poles: proved to settle, and every run from a corner does within the time told."""
    proved, late, spent = 0, 0, 0.0
    cases = list(itertools.product(("0.98", "0.99", "0.995"), (28, 30)))
    for pole, most in cases:
        model = elaborate(read_text(SLOW.format(pole=pole, most=most)))
        begun = time.process_time()
        found = decide(model, model.promises["p"], time_limit=LIMIT)
        spent += time.process_time() - begun
        if isinstance(found, Proved):
            proved += 1
            until = next(Fraction(t.split()[1]) for t in found.assumptions if t.startswith("within "))
            for x, y in itertools.product((0, 60), repeat=2):
                run = execute(model, Choices({"a.x": Fraction(x), "b.y": Fraction(y)}), until=until + 30)
                late += any(i.after["a.x"] > most for i in run if i.time >= until)
    yield Row("slow pairs of states proved to settle", proved, f"== {len(cases)}", "designs", "shrinking sets: 0")
    yield Row("runs that settle later than was told", late, "== 0", "", "")
    yield Row("one slow pair", spent / len(cases), "<= 2", "s", "processor time")


def _read(sources: Mapping[str, str]) -> Design:
    return read_text(sources["d"], "d")
