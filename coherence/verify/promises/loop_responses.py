"""Makes findings of `after a then b within t` over interacting loops, with witness."""

from __future__ import annotations

from fractions import Fraction

from coherence.base.number_text import render_clock, render_quantity
from coherence.base.places import Place
from coherence.base.units import SECOND
from coherence.findings.finding import Evidence, Finding, Grade, Step
from coherence.findings.question_input import Question, Subject
from coherence.language.design import Design
from coherence.language.expressions import names as names_of
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.sentences import Promise
from coherence.model.elaborate import model_of
from coherence.model.model import Model
from coherence.simulate.execute.bounded_response import BoundedResponse, conditions_of, observed
from coherence.simulate.execute.exact import Execution, Instant, replay
from coherence.simulate.execute.slices import influences
from coherence.simulate.execute.timeline import shown, timeline, told_choices
from coherence.verify.promises.edges_ahead import MOST_INSTANTS
from coherence.verify.promises.every_delay import for_every_delay
from coherence.verify.promises.loop_promises import place_of
from coherence.verify.promises.outcomes import Open, Proved
from coherence.verify.promises.responses import Late, Never, answered, part_of

FARTHER = 20  # times the promised time, within which a late answer is looked for


def driven(subject: Subject, promise: Promise) -> bool:
    """Decides whether the promise is about conditions in which a loop that runs, or a plant, has a part, not events."""
    response = conditions_of(subject.model, promise)
    if response is None or isinstance(response, str):
        return response is not None
    model, used = subject.model, _names(response)
    known = (*model.states, *model.commands, *model.outputs, *(loop.name for loop in model.loops), *model.constants)
    moving = influences(model, used)
    return all(name in known for name in used) and any(
        path in moving for path in (*model.states, *_loops(model, response))
    )


def answer(question: Question, subject: Subject, promise: Promise) -> Finding:
    """Returns the verdict on one response, as a finding of the question."""
    response = conditions_of(subject.model, promise)
    if not isinstance(response, BoundedResponse):
        places = (promise.place.labelled("this promise"),)
        return question.undecided(f"{promise.text}: needs {response}", places, (promise.name,))

    def part(design: Design) -> Model:
        return part_of(model_of(design), promise, response)

    def ask(case: Subject) -> Finding:
        return _answer(question, case, promise, response)

    return for_every_delay(question, subject, part, ask, (response.within,)) or ask(subject)


def _answer(question: Question, subject: Subject, promise: Promise, response: BoundedResponse) -> Finding:
    model = subject.model
    names = _loops(model, response)
    places = (promise.place.labelled("this promise"), *(place_of(subject.design.loops[name]) for name in names))
    of = (promise.name, *names)
    outcome = answered(model, promise, response, time_limit=subject.time_limit)
    match outcome:
        case Late():
            return _late(question, subject, promise, response, outcome, places)
        case Proved():
            message = f"{promise.text}: holds in every run"
            return question.proved(message, places, of, _evidence(outcome), assumptions=_assumed(model, outcome))
        case Never(shown=proof):
            message = f"{promise.text}: says nothing, the first condition never holds"
            return question.vacuous(message, places, of, _evidence(proof))
        case Open():
            return question.undecided(f"{promise.text}: {outcome.reason}", places, of, bound=outcome.bound)


def _evidence(outcome: Proved) -> Evidence:
    return Evidence(Grade.PROVED, outcome.method, certificate=outcome.certificate)


def _assumed(model: Model, outcome: Proved) -> tuple[str, ...]:
    return (*outcome.assumptions, *model.abstractions)


def _names(response: BoundedResponse) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for tree in response.trees for name in names_of(tree)))


def _loops(model: Model, response: BoundedResponse) -> tuple[str, ...]:
    causes = influences(model, _names(response))
    return tuple(loop.name for loop in model.loops if loop.name in causes)


def _late(
    question: Question,
    subject: Subject,
    promise: Promise,
    response: BoundedResponse,
    late: Late,
    places: tuple[Place, ...],
) -> Finding:
    model, names = part_of(subject.model, promise, response), _loops(subject.model, response)
    of = (promise.name, *names)
    if not replay(model, late.choices, list(late.instants)):
        return question.undecided(f"{promise.text}: the witness does not replay", places, of)
    instants, served = _served(model, response, late)
    watch = [name for name in _names(response) if name not in names]
    due = late.since + response.within
    steps = [
        *timeline(model, instants, [*watch, *model.states]),
        Step(late.since, f"an answer is due: {_seen(model, response, instants, late.since)}"),
        Step(due, f"{promise.text} is broken: {_seen(model, response, instants, due)}"),
    ]
    numbers: dict[str, tuple[Fraction | float | int, str]] = {
        "promised": (response.within, "s"),
        "due from": (late.since, "s"),
    }
    ending = "not answered in the run"
    if served is not None:
        numbers["answered after"] = (served - late.since, "s")
        ending = f"answered after {render_quantity(served - late.since, SECOND)}"
    evidence = Evidence(
        Grade.PROVED,
        "exact execution",
        tuple(sorted(steps, key=lambda step: step.time or Fraction(0))),
        numbers=numbers,
        replayed=True,
    )
    message = f"{promise.text}: broken after {render_clock(late.since)}, {ending}"
    assumptions = (*told_choices(model, late.choices), *late.certainty.assumptions, *model.abstractions)
    return question.conflict(message, places, of, evidence, certain=late.certainty.certain, assumptions=assumptions)


def _served(model: Model, response: BoundedResponse, late: Late) -> tuple[list[Instant], Fraction | None]:
    """Returns the run until the late answer comes, or its instants up to the promised time."""
    run, instants = Execution(model, late.choices), list[Instant]()
    end = late.since + (FARTHER + 1) * response.within
    try:
        while len(instants) < MOST_INSTANTS and run.next_time() <= end:
            instants.append(run.advance())
            seen, time = observed(run, instants[-1], response), instants[-1].time
            if time > late.since + response.within and any(sight.then for sight in seen):
                return instants, time
    except NotExactError:
        pass  # the way to the answer is no part of the witness
    return list(late.instants), None


def _seen(model: Model, response: BoundedResponse, instants: list[Instant], time: Fraction) -> str:
    """Returns what the conditions read, as an instant at or before a time left it."""
    last = next((i for i in reversed(instants) if i.time <= time), instants[0])
    readings = []
    for name in _names(response):
        value = last.after.get(name)
        if value is not None:
            readings.append(f"{name} = {str(value).lower() if isinstance(value, bool) else shown(model, name, value)}")
    return ", ".join(readings)
