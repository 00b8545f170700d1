"""Lays answers of the tool beside what the second interpreter finds: a contradiction is a line of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from random import Random
from typing import Any

from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.language.sentences import Promise
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.bounded_response import BoundedResponse, conditions_of
from coherence.simulate.execute.exact import Choices
from coherence.verify.promises.outcomes import Open, Outcome, Proved, Refuted
from coherence.verify.promises.responses import Late, Never, answered
from tests.second_interpreter.deciding import seconds, signal_of
from tests.second_interpreter.designs import KINDS, WIDE, plant_design, promise_near, wide_design
from tests.second_interpreter.drawn import Drawn
from tests.second_interpreter.runs import SecondRun, truths

LONG, SHORT = Fraction(150), Fraction(30)  # seconds of a run, for what comes at last and for what always holds
MODULES = {question.code: module for module in question_modules() for question in module.questions}


def answer(drawn: Drawn) -> str:
    """Returns the verdict of a family's questions: conflict before undecided before proved; `certain` of a conflict."""
    if drawn.of:
        return answer_of_all(drawn)
    subject = Subject(read_text(drawn.text, "case.yaml"), {"case.yaml": drawn.text})
    return _of_findings((f for code in drawn.codes for f in MODULES[code].ask(subject)), drawn)


def answer_of_all(drawn: Drawn) -> str:
    """Returns the verdict where all questions are asked, so that proofs fall over what nobody has read."""
    design = read_text(drawn.text, "case.yaml")
    sources = {"case.yaml": drawn.text}
    return _of_findings(
        analyse(
            design, sources, lambda texts: read_text(texts["case.yaml"], "case.yaml"), verify_repairs=False
        ).findings,
        drawn,
    )


def _of_findings(findings: Iterable[Finding], drawn: Drawn) -> str:
    own = [
        f
        for f in findings
        if (drawn.of in f.of if drawn.of else f.code in drawn.codes) and f.verdict is not Verdict.NOTE
    ]
    verdicts = [f.verdict for f in own]
    if Verdict.CONFLICT in verdicts:
        return "conflict, certain" if any(f.certainty == "certain" for f in own) else "conflict"
    if Verdict.UNDECIDED in verdicts:
        return "undecided"
    last = [str(f.verdict) for f in own if drawn.of or f.code == drawn.codes[-1]]
    return last[0] if last else "silent"  # of several questions the last one decides


def sums_contradicted(family: Callable[[Random], Drawn], seeds: range, counts: Counter[str]) -> Iterator[str]:
    """Yields one line for each answer that the list of all cases contradicts; a silent question contradicts both."""
    for seed in seeds:
        drawn = family(Random(f"{family.__name__} {seed}"))  # noqa: S311  (the same designs in every run)
        verdict, truth = answer(drawn), {True: "breaks", False: "holds", None: "open"}[drawn.breaks]
        wrong = _contradicted(verdict, drawn)
        if wrong and verdict == "proved":
            verdict = answer_of_all(drawn)
            wrong = _contradicted(verdict, drawn)
        counts[f"{verdict.partition(',')[0]}, {truth}"] += 1
        if wrong:
            yield f"{family.__name__} {seed}: {verdict}, but it {truth}\n{drawn.text}"


def _contradicted(verdict: str, drawn: Drawn) -> bool:
    if verdict == "conflict, certain" and drawn.always is False:
        return True
    if drawn.unprovable and verdict.startswith("proved"):
        return True
    wrong = {True: ("proved", "silent"), False: ("conflict", "silent"), None: ()}[drawn.breaks]
    return verdict.partition(",")[0] in wrong and (drawn.speaks or verdict != "silent")


# -- loops and plants --------------------------------------------------------------------------------------


def runs_contradicted(
    kinds: str, seeds: range, counts: Counter[str], *, time_limit: float, runs: int = 40
) -> Iterator[str]:
    """Yields one line for each verdict on a promise over loops and plants that a run contradicts."""
    for seed in seeds:
        random = Random(f"{kinds} {seed}")  # noqa: S311  (the same designs in every run)
        text = (wide_design if kinds in WIDE else plant_design)(random)
        design = read_text(text)
        seen = [a for run in drawn_runs(design, random, 12) for _, *worlds in run.run(Fraction(20)) for a in worlds]
        kind = random.choice(KINDS[kinds])
        text += f'\npromises: {{p: "{promise_near(random, kind, [world["tank.x"] for world in seen])}"}}\n'
        design, model = read_text(text), elaborate(read_text(text))
        outcome = verdict(model, model.promises["p"], time_limit)
        counts[f"{kind} {type(outcome).__name__}"] += 1
        if contradiction := contradicts(design, model, outcome, kind, random, runs):
            yield f"{kinds} {seed}: {contradiction}\n{text}"
        if isinstance(outcome, Open):
            counts[f"{kind} Open, breaks"] += any(broken(design, run, kind) for run in drawn_runs(design, random, 3))


def verdict(model: Model, promise: Promise, time_limit: float) -> Outcome | Late | Never:
    """Returns what the engines say of a promise."""
    from coherence.verify.promises.decisions import decide

    response = conditions_of(model, promise) if promise.kind == "response" else None
    if isinstance(response, BoundedResponse):
        return answered(model, promise, response, time_limit=time_limit)
    return decide(model, promise, time_limit=time_limit)


def contradicts(
    design: Design, model: Model, outcome: Outcome | Late | Never, kind: str, random: Random, runs: int
) -> str:
    """Renders how a run contradicts a verdict; nothing where none does."""
    if isinstance(outcome, Proved):
        bad = next((run for run in drawn_runs(design, random, runs) if broken(design, run, kind)), None)
        return "" if bad is None else f"proved, but a run breaks it: {bad.first} at phases {bad.phases}"
    if isinstance(outcome, Never):
        asked = (run for run in drawn_runs(design, random, runs) if any(first for _, first, _ in asks(design, run)))
        return "never asked, but a run asks" if next(asked, None) is not None else ""
    if isinstance(outcome, Refuted | Late):
        run = repeated(design, model, outcome.choices)
        until = outcome.instants[-1].time if kind in ("always", "never") else LONG
        if not broken(design, run, kind, until):
            return f"the run that breaks it at {until} s does not"
        sure = outcome.certainty.certain and not outcome.certainty.runs
        kept = (run for run in drawn_runs(design, random, 8 if sure else 0) if not broken(design, run, kind, LONG))
        good = next(kept, None)
        return "" if good is None else f"certain, but a run keeps it: {good.first} at phases {good.phases}"
    return ""


def broken(design: Design, run: SecondRun, kind: str, until: Fraction | None = None) -> bool:
    """Decides whether the run breaks the promise, as far as it goes."""
    promise = design.promises["p"]
    if kind == "response":
        return not answers_in_time(design, run, until)
    assert promise.condition is not None
    log = list(run.run(until or (SHORT if kind in ("always", "never") else LONG)))
    holds = truths(run, promise.condition.tree, log)
    if kind == "eventually_always":
        return not all(holds[-len(holds) // 3 :])
    return {"always": not all(holds), "never": any(holds), "eventually": not any(holds)}[kind]


def asks(design: Design, run: SecondRun, until: Fraction | None = None) -> list[tuple[Fraction, bool, bool]]:
    """Returns (time, first condition, second condition) as sampled and after each instant."""
    promise = design.promises["p"]
    assert promise.after is not None
    assert promise.then is not None
    log = run.run(until or SHORT)
    first, then = truths(run, promise.after.tree, log), truths(run, promise.then.tree, log)
    times = [time for time, _, _ in log for _ in "ab"]
    return list(zip(times, first, then, strict=True))


def answers_in_time(design: Design, run: SecondRun, until: Fraction | None) -> bool:
    """Decides whether what the first condition asks for comes in time, as far as the run goes."""
    within = design.promises["p"].within
    assert within is not None
    seen = asks(design, run, until)
    last = seen[-1][0]
    return all(
        any(then and after <= time + within.low for after, _, then in seen[number:])
        for number, (time, first, _) in enumerate(seen)
        if first and time + within.low < last
    )


def drawn_runs(design: Design, random: Random, count: int) -> Iterator[SecondRun]:
    """Yields runs from drawn starts, at drawn phases, with values that vary by chance or stay at one end."""
    draws: list[Callable[[list[Any]], Any]] = [
        random.choice,
        random.choice,
        lambda ends: ends[0],
        lambda ends: ends[-1],
    ]
    for number in range(count):
        starts = {path: random.choice(choices) for path, choices in open_values(design).items()}
        free = [x for x in design.loops.values() if x.timescale is None or x.timescale.phase is None]
        phases = {x.name: Fraction(random.randint(0, 11), 12) * seconds(x, "period") for x in free if number % 4 != 3}
        yield SecondRun(design, starts, phases, draws[number % 4])


def open_values(design: Design) -> dict[str, list[Fraction]]:
    """Returns ends and some values between them, of starts and constants."""
    ranges: dict[str, Any] = {}
    for component in design.components.values():
        if component.state is not None:
            ranges[f"{component.name}.{component.state.text.split(chr(39))[0].strip()}"] = component.initial
        own = component.constants.items()
        ranges.update({f"{component.name}.{k}": v for k, v in own if getattr(v, "low", None) is not None})
    ranges.update({signal_of(x): x.actuation.initial for x in design.loops.values() if x.actuation is not None})
    found = {path: value for path, value in ranges.items() if value is not None and not getattr(value, "varies", False)}
    between = [Fraction(k, 8) for k in (0, 8, 0, 8, *range(9))]
    return {path: [v.low + (v.high - v.low) * part for part in between] for path, v in found.items()}


def repeated(design: Design, model: Model, choices: Choices) -> SecondRun:
    """Returns the run with the choices of a refutation."""
    starts = {path: choices.values.get(path, values[0]) for path, values in open_values(design).items()}
    phases = {name: choices.phases.get(name, seconds(loop, "phase")) for name, loop in design.loops.items()}
    run = SecondRun(design, starts, phases, lambda ends: ends[0])
    run.ties = choices.order or tuple(loop.name for loop in model.loops)
    courses = [(at, path, value) for at, path, value in choices.schedule]
    ends = {path: choices.values.get(path, value.low) for path, value in run.varying.items()}
    run.course = lambda path, time: [
        ends.get(path, choices.values.get(path, Fraction(0))),
        *(v for at, p, v in courses if p == path and at <= time),
    ][-1]
    return run
