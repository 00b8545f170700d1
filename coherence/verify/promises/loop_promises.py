"""Makes findings of promises over interacting loops, with witness, cycle and repairs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from coherence.base.clock import now
from coherence.base.number_text import render_clock, render_quantity
from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Grade, Step, Verdict
from coherence.findings.question_input import Question, Subject, arithmetic, details_are_asked
from coherence.language.design import Design, Loop, Relay
from coherence.language.expressions import names as names_of
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Logic
from coherence.language.schema_kinds import Formula
from coherence.language.sentences import Promise
from coherence.model.elaborate import model_of
from coherence.model.model import Model, unit_of
from coherence.simulate.execute.enclosed.contracting_runs import HOW
from coherence.simulate.execute.exact import Execution, MissingValueError, replay
from coherence.simulate.execute.orbits import Drift, LongRun, long_run, looked_at
from coherence.simulate.execute.slices import influences
from coherence.simulate.execute.timeline import shown, timeline, told_choices
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.range_claims import claimed
from coherence.verify.facts.ranges import encloses, truth
from coherence.verify.promises.decisions import (
    LAPS,
    MOST_INSTANTS,
    Open,
    Proved,
    Refuted,
    condition_of,
    decide,
    lap_truths,
    part_of,
    seen_from_its_side,
    watched,
)
from coherence.verify.promises.every_delay import for_every_delay
from coherence.verify.promises.flow_watches import WATCH
from coherence.verify.promises.outside_signals import prepared
from coherence.verify.promises.threshold_repairs import lowered

FLOAT_RUNS = 0.25  # of the time of the question, for runs in floats


def driven(subject: Subject, promise: Promise) -> bool:
    """Decides whether a loop or a plant moves what the promise reads; counts and events belong to other questions."""
    model = subject.model
    names = names_of(condition_of(model, promise))
    known = (*model.states, *model.commands, *model.outputs, *(loop.name for loop in model.loops))
    moving = influences(model, names)
    moves = any(path in moving for path in model.states) or bool(_loops(model, promise))
    return all(name in known or name in model.constants for name in names) and moves


def _loops(model: Model, promise: Promise) -> tuple[str, ...]:
    causes = influences(model, names_of(condition_of(model, promise)))
    switching = (path for path, state in model.states.items() if state.switch is not None)
    paths = (*(loop.name for loop in model.loops), *(path for path in switching if path in model.design.loops))
    return tuple(path for path in paths if path in causes)


def answer(question: Question, subject: Subject, promise: Promise) -> Finding:
    """Returns the verdict on one promise, as a finding of the question: for every delay that is open."""
    promise = seen_from_its_side(subject.model, promise)

    def part(design: Design) -> Model:
        return part_of(prepared(model_of(design), promise), promise)

    def ask(case: Subject) -> Finding:
        return _answer(question, case, promise)

    return for_every_delay(question, subject, part, ask) or ask(subject)


def _answer(question: Question, subject: Subject, promise: Promise) -> Finding:
    model = prepared(subject.model, promise)
    names = _loops(model, promise)
    places = (promise.place.labelled("this promise"), *(place_of(subject.design.loops[name]) for name in names))
    begin = now()
    outcome = decide(model, promise, time_limit=subject.time_limit)
    match outcome:
        case Refuted():
            asked_for = _within_limits(question, subject, promise, places) if subject.design.limits else None
            left = max(0.0, subject.time_limit + begin - now())  # repairs take what the answer has left
            return asked_for or _conflict(question, replace(subject, time_limit=left), promise, outcome, places)
        case Proved():
            evidence = Evidence(Grade.PROVED, outcome.method, certificate=outcome.certificate)
            close = ", with no margin: a limit is approached and never reached" if outcome.touching else ""
            message = f"{promise.text}: holds in every run{close}"
            return question.proved(
                message,
                places,
                (promise.name, *names),
                evidence,
                assumptions=(*outcome.assumptions, *model.abstractions),
                margin=not outcome.touching,
            )
        case Open():
            by_range = _by_range(question, subject, promise, names, places)
            in_floats = _in_floats(question, subject, promise, places) if outcome.curved and not by_range else None
            return (
                by_range
                or in_floats
                or question.undecided(
                    f"{promise.text}: {outcome.reason}", places, (promise.name, *names), bound=outcome.bound
                )
            )


def _within_limits(question: Question, subject: Subject, promise: Promise, places: tuple[Place, ...]) -> Finding | None:
    """Returns what to ask where no run breaks the promise if limits on what loops write turn away; else None."""
    from coherence.verify.promises.within_limits import within_limits  # only where a run breaks a promise beside limits

    within = within_limits(subject.design, subject.model, condition_of(subject.model, promise))
    if within is None:
        return None
    design, limits = within
    if _answer(question, replace(subject, design=design), promise).verdict is Verdict.CONFLICT:
        return None
    names = [limit.name for limit in limits]
    needs = f"needs `when_full` of {' and '.join(names)}: unless nothing comes beyond, {promise.text} is broken"
    where = (*places, *(limit.place.labelled("may turn away what is beyond") for limit in limits))
    return question.undecided(needs, where, (promise.name, *names))


def _in_floats(question: Question, subject: Subject, promise: Promise, places: tuple[Place, ...]) -> Finding | None:
    """Returns the conflict of a run in floats, where flows are followed in floats alone."""
    from coherence.verify.promises.float_runs import METHOD, breaking_run  # only where flows are no straight lines

    model = prepared(subject.model, promise)
    part = part_of(model, promise)
    seconds = subject.time_limit * FLOAT_RUNS
    breaking = breaking_run(part, condition_of(model, promise), promise.kind, seconds)
    if breaking is None:
        return None
    seen = ", ".join(f"{path} = {shown(model, path, Fraction(value))}" for path, value in breaking.values.items())
    steps = (Step(breaking.time, f"{promise.text} is broken: {seen}"),)
    return question.conflict(
        f"{promise.text}: broken after {render_clock(breaking.time)}", places, (promise.name, *_loops(model, promise)),
        Evidence(Grade.SIMULATED, METHOD, steps), certain=False,
        assumptions=(*told_choices(model, breaking.choices), *model.abstractions),
    )  # fmt: skip


def _by_range(
    question: Question, subject: Subject, promise: Promise, names: tuple[str, ...], places: tuple[Place, ...]
) -> Finding | None:
    """Returns an answer from the ranges alone: what is written always lies within bounds, whatever the loops read."""
    facts, condition = known(subject), condition_of(subject.model, promise)
    used = names_of(facts.tree(condition))
    if any(not _bounded(facts, subject.model, path) for path in used):
        return None
    holds = truth(facts.tree(condition), facts.values)
    if holds is None:
        return None
    of, keeps = (promise.name, *names), holds is not (promise.kind == "never")
    if not keeps and promise.kind != "eventually":
        return None  # `unsatisfiable-targets` tells what can never be kept all the time
    ranges = ", ".join(f"{path} {_span(facts, subject.model, path)}" for path in used)
    where = (*places, *(facts.places[path].labelled(f"{path} stays within this") for path in used))
    if not keeps:
        evidence = arithmetic({}, witness=(Step(None, f"in every state: {ranges}"),))
        message = f"{promise.text}: no state within the bounds keeps it ({ranges})"
        return question.conflict(message, where, of, evidence, certain=True)
    claim = facts.tree(condition) if promise.kind != "never" else Logic("not", (facts.tree(condition),))
    script = claimed(claim, facts.values)
    if script is None:
        return None
    message = f"{promise.text}: holds in every state within the bounds ({ranges})"
    return question.proved(message, where, of, arithmetic({}, certificate=script))


def _span(facts: DesignFacts, model: Model, path: str) -> str:
    interval, unit = facts.values[path], unit_of(model, path)
    ends = [render_quantity(end, unit) for end in (interval.low, interval.high) if end is not None]
    return " to ".join(dict.fromkeys(ends))


def _bounded(facts: DesignFacts, model: Model, path: str) -> bool:
    """Decides whether the value stays in its known interval from the start on; what is set, or ignored, may not."""
    interval, writers = facts.values.get(path), facts.written.get(path, ())
    if interval is None or interval.low is None or interval.high is None or path not in facts.places:
        return False
    if not writers:
        return path in model.constants
    starts = path in model.commands and encloses(interval, model.commands[path].initial)
    return starts and all(writer.kind in ("step", "scale") and encloses(interval, writer.values) for writer in writers)


def place_of(loop: Loop) -> Place:
    """Returns the place where the loop says when it acts."""
    trigger = loop.trigger
    if isinstance(trigger, Relay) and trigger.enter is not None:
        return trigger.enter.place.labelled(f"{loop.name} acts from here")
    if isinstance(trigger, Formula) and trigger.text.strip() != "always":
        return trigger.place.labelled(f"{loop.name} acts while this holds")
    if loop.rules and loop.rules[-1].when:
        return loop.rules[-1].when.place.labelled(f"a rule of {loop.name}")
    if loop.target is not None and loop.target.signal is not None:
        return loop.target.signal.place.labelled(f"{loop.name} reads this")
    return loop.place.labelled(f"the loop {loop.name}")


def _conflict(
    question: Question, subject: Subject, promise: Promise, outcome: Refuted, places: tuple[Place, ...]
) -> Finding:
    model = prepared(subject.model, promise)
    names = _loops(model, promise)
    if not replay(part_of(model, promise), outcome.choices, list(outcome.instants[:400])):
        return question.undecided(f"{promise.text}: the witness does not replay", places, (promise.name, *names))
    watch = [n for n in names_of(condition_of(model, promise)) if n not in names] + list(model.states)
    steps = [*timeline(model, outcome.instants, watch)]
    if outcome.rests_at:
        at = ", ".join(f"{path} = {shown(model, path, value)}" for path, value in outcome.rests_at.items())
        method, numbers, how = HOW, dict[str, tuple[Fraction | float | int, str]](), f"the run comes to rest at {at}"
        steps.append(Step(None, how))
    else:
        again, numbers = _cycle(subject, promise, outcome) if details_are_asked() else ("", {})
        method, how = "exact execution", f"broken after {render_clock(outcome.instants[-1].time)}{again}"
        steps.append(_last(model, promise, outcome))
    evidence = Evidence(Grade.PROVED, method, tuple(steps), numbers=numbers, replayed=True)
    message = f"{promise.text}: {how}"
    assumptions = (*told_choices(model, outcome.choices), *outcome.certainty.assumptions, *model.abstractions)
    return question.conflict(
        message,
        places,
        (promise.name, *names),
        evidence,
        certain=outcome.certainty.certain,
        assumptions=assumptions,
        repairs=lowered(subject, promise, names),
    )


def _breaks_after(model: Model, promise: Promise, outcome: Refuted) -> bool:
    """Decides whether the witness shows the values after its last instant, or those sampled at it."""
    if promise.kind not in ("always", "never"):
        return True
    run = Execution(part_of(model, promise), outcome.choices)
    for _ in outcome.instants[:-1]:
        run.advance()
    sampled, _ = looked_at(run, run.advance(), condition_of(model, promise))
    return bool(sampled) is (promise.kind == "always")


def _last(model: Model, promise: Promise, outcome: Refuted) -> Step:
    instant = outcome.instants[-1]
    condition = condition_of(model, promise)
    values = instant.after if _breaks_after(model, promise, outcome) else instant.sampled
    names = [n for n in names_of(condition) if n in values]
    seen = ", ".join(
        f"{n} = {str(v).lower() if isinstance(v := values[n], bool) else shown(model, n, v)}" for n in names
    )
    return Step(instant.time, f"{promise.text} is broken" + (f": {seen}" if seen else ""))


def _cycle(
    subject: Subject, promise: Promise, outcome: Refuted
) -> tuple[str, dict[str, tuple[Fraction | float | int, str]]]:
    """Returns in words whether the orbit of the same choices breaks the promise for ever, and its numbers."""
    part = part_of(prepared(subject.model, promise), promise)
    seen = watched(part, condition_of(part, promise))
    run = outcome.run or long_run(part, outcome.choices, laps=LAPS, most=MOST_INSTANTS, watched=seen)
    if run.drift is not None:
        return _growth(part, run.drift), {}
    if run.orbit is None or run.orbit.still:
        return "", {}
    orbit = run.orbit
    numbers: dict[str, tuple[Fraction | float | int, str]] = {
        "period": (orbit.period, "s"),
        "contraction per lap": (orbit.contraction, ""),
    }
    for path in (*(path for path in part.states if path != WATCH), *part.commands):
        low, high = orbit.range_of(path)
        unit = str(unit_of(part, path)) if unit_of(part, path).powers else ""
        numbers[f"{path} lowest"], numbers[f"{path} highest"] = (low, unit), (high, unit)
    again = _broken_again(part, promise, run)
    return (f", and again every {render_clock(orbit.period)} for ever" if again else ""), numbers


def _growth(part: Model, drift: Drift) -> str:
    """Returns in words what each lap of a run adds to its values for ever."""
    moved = [(path, drift.added[path]) for path in (*part.states, *part.commands) if path in drift.added]
    adds = (f"{shown(part, path, added)} to {path}" for path, added in moved)
    return f"; each {render_clock(drift.period)} adds {', '.join(adds)} for ever" if moved else ""


def _broken_again(part: Model, promise: Promise, run: LongRun) -> bool:
    """Decides whether the orbit itself breaks the promise, not only the way to it."""
    if promise.kind not in ("always", "never"):
        return True
    try:
        return (promise.kind == "never") in lap_truths(part, run, condition_of(part, promise))
    except (NotExactError, MissingValueError):
        return False
