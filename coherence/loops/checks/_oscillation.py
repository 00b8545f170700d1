"""Answers of `sustained-oscillation` where no run is exact: flows in feedback, and loops over plants that bend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from coherence.base.clock import now
from coherence.base.number_text import render_decimal, render_seconds
from coherence.base.places import Place
from coherence.base.watchdog import TimeOverError
from coherence.findings.finding import Evidence, Finding, Grade, Verdict
from coherence.findings.intended_cycles import as_intended
from coherence.findings.question_input import Question, Subject, details_are_asked, repairs_are_asked
from coherence.language.design import Design
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Call, walk
from coherence.loops.designs.feedback_groups import Deadline, OutOfTimeError
from coherence.loops.designs.flow_feedback import flow_answer, flow_groups, switches_of
from coherence.loops.designs.groups import Group, answer, groups, needs, swing_finding
from coherence.loops.designs.predicted_cycles import CycleReading, cycles_of_flows
from coherence.loops.settling.any_order import graph_of, rest_finding, swing_in_some_order
from coherence.loops.settling.settling_proofs import settling
from coherence.loops.settling.swings_without_rest import Persistence, of_flows, of_loops
from coherence.model.crossings import at_crossings
from coherence.model.model import Model
from coherence.simulate.execute.enclosed.contracting_runs import HOW
from coherence.simulate.execute.exact import MissingValueError
from coherence.simulate.execute.open_ranges import one_ended
from coherence.simulate.execute.schedules import NotCommensurateError
from coherence.simulate.execute.slices import sliced
from coherence.simulate.execute.timeline import shown, told_constants
from coherence.verify.convergence.command_graph import GraphAnswer
from coherence.verify.convergence.command_rests import CommandCrossing
from coherence.verify.promises.certainty import Certainty
from coherence.verify.promises.enclosed_promises import point, resting

Ranges = Mapping[str, tuple[float, float]]
Numbers = dict[str, tuple[Fraction | float | int, str]]
CYCLE = "return map, and execution"  # how a cycle of flows is confirmed


def loop_findings(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per group of loops in feedback: a proof over plants with lags, exact runs, and where these
    decide nothing roots and a run in floats.
    """
    for number in range(len(groups(subject))):
        yield _exact_cycle(question, subject.design, loop_finding(question, subject, number))


def _exact_cycle(question: Question, design: Design, finding: Finding) -> Finding:
    """Returns the finding, as a note where it is an exact cycle that each of its loops is meant to keep up.

    What grows, or is not known to recur, stays a conflict.
    """
    cycles = finding.evidence.method.endswith(CYCLE) or finding.evidence.grade is Grade.PROVED
    return as_intended(question, design, finding) if cycles else finding


def loop_finding(question: Question, subject: Subject, number: int) -> Finding:
    """Returns the answer about one of the groups of loops in feedback, kept with the design."""
    query = (loop_finding, question.code, number, subject.time_limit, details_are_asked(), repairs_are_asked())
    return subject.queries.get(query, lambda: _loop_finding(question, subject, number))


def _loop_finding(question: Question, subject: Subject, number: int) -> Finding:
    group = groups(subject)[number]
    if needs(subject, group):
        return answer(question, subject, number)
    graph = graph_of(group, now() + subject.time_limit / 4)
    never, several = graph is not None and not graph.rests, len(group.model.loops) > 1
    proof, crossing = _in_any_order(question, subject, group, graph) if several else (None, None)
    if proof is not None:
        return proof
    finding = _settled(question, subject, group) or answer(question, subject, number)
    if finding.verdict is Verdict.CONFLICT and never:
        return replace(finding, certainty="certain")
    if finding.verdict is not Verdict.UNDECIDED:
        return finding
    run = swing_in_some_order(group, now() + subject.time_limit / 4) if len(group.loops) > 1 else None
    if run is not None:
        return swing_finding(question, subject, group, run, Certainty(certain=never))
    if not several:
        proof, crossing = _in_any_order(question, subject, group, graph)
    if crossing is not None:
        finding = replace(finding, message=f"{finding.message}; {crossing.render(group.model)}")
    return proof or _rested(question, subject, group) or _beside_roots(question, subject, group, finding)


def _in_any_order(
    question: Question, subject: Subject, group: Group, graph: GraphAnswer | None
) -> tuple[Finding | None, CommandCrossing | None]:
    """Returns the proof that a group comes to rest in every order and phase, or what stands against one."""
    shown_rest = rest_finding(question, group, graph, now() + subject.time_limit / 4)
    return (shown_rest, None) if isinstance(shown_rest, Finding) else (None, shown_rest)


def _rested(question: Question, subject: Subject, group: Group) -> Finding | None:
    """Returns the proof that a group comes to rest from each of its few starts, in enclosures of its runs."""
    try:
        rests = resting(group.model, now() + subject.time_limit / 4)
    except (NotExactError, MissingValueError, NotCommensurateError):
        return None
    if not rests or one_ended(group.model):
        return None
    evidence = Evidence(Grade.PROVED, HOW, certificate="(reset)\n".join(rest.script for _, rest in rests))
    at = [point(group.model, rest).items() for _, rest in rests]
    words = dict.fromkeys(", ".join(f"{p} = {shown(group.model, p, value)}" for p, value in items) for items in at)
    verb = "settles" if len(group.names) == 1 else "settle"
    start = "its start" if len(rests) == 1 else f"each of {len(rests)} starts, phases and orders"
    message = f"{' and '.join(group.names)} {verb} from {start}: {' or '.join(words)}"
    return question.proved(message, group.places, group.names, evidence, assumptions=group.model.abstractions)


def _settled(question: Question, subject: Subject, group: Group) -> Finding | None:
    """Returns the proof that loops over plants settle, where a quadratic form shows it."""
    try:
        settled = settling(group.model, Deadline(subject.time_limit / 4).check)
    except OutOfTimeError:
        return None
    if not settled.start:
        return None
    verb = "settles" if len(group.names) == 1 else "settle"
    evidence = Evidence(Grade.PROVED, settled.how, certificate=settled.script)
    at = ", ".join(f"{path} = {shown(group.model, path, value)}" for path, value in settled.point.items())
    message = f"{' and '.join(group.names)} {verb} {settled.start}: {at}"
    return question.proved(message, group.places, group.names, evidence, assumptions=group.model.abstractions)


def _beside_roots(question: Question, subject: Subject, group: Group, finding: Finding) -> Finding:
    """Returns the conflict of loops that never rest, or the undecided finding with what the roots say."""
    signals = tuple(dict.fromkeys(loop.signal for loop in group.loops if loop.signal))
    persistence = of_loops(group.model, signals, Deadline(subject.time_limit / 2).check)
    if persistence is None:
        return finding
    if persistence.verdict == "swings":
        chosen = told_constants(group.model, persistence.choices)
        return _swinging(question, " and ".join(group.names), group.places, group.names, persistence, chosen)
    linear, message = f"linear: {persistence.render()}", finding.message
    if persistence.verdict == "rests":
        verb = "settles" if len(group.names) == 1 else "settle"
        message = (
            f"{' and '.join(group.names)} {verb} at {persistence.where()} in a run, and its roots there are stable"
        )
        linear = f"no proof of every start: {finding.message}; {linear}"
    known = "; ".join(filter(None, (finding.evidence.bound, linear)))
    return replace(finding, message=message, evidence=replace(finding.evidence, bound=known))


def flow_findings(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per group of flows in feedback that may swing: a single level without delay or switch only
    rises or only falls.
    """
    model = at_crossings(subject.model)
    for paths in flow_groups(model):
        if len(paths) > 1 or switches_of(model, paths) or _delayed(model, paths[0]):
            yield _of_group(question, subject, model, paths)


def _delayed(model: Model, path: str) -> bool:
    part = sliced(model, [path])
    trees = [*part.outputs.values(), part.states[path].flow]
    return any(isinstance(node, Call) and node.function == "delayed" for t in trees if t for node in walk(t))


def _of_group(question: Question, subject: Subject, model: Model, paths: Sequence[str]) -> Finding:
    places = [model.states[path].place.labelled(f"{path} flows") for path in paths]
    switching = [state for state in switches_of(model, paths) if state.path in model.design.loops]
    places += [state.place.labelled(f"{state.path} switches") for state in switching]
    of = (*paths, *(state.path for state in switching))
    name, deadline = " and ".join(paths), Deadline(subject.time_limit)
    answer = flow_answer(model, paths, deadline.check)
    persistence = of_flows(model, answer, deadline.share(0.7).check)
    if persistence is not None and persistence.verdict == "swings" and persistence.run is not None:
        return _swinging(question, name, places, paths, persistence)
    rests = persistence is not None and persistence.verdict == "rests"
    readings = () if rests else _readings(model, paths, deadline)
    cycle = next((reading for reading in readings if reading.confirmed), None)
    if cycle is not None:
        return _exact_cycle(question, model.design, _on_cycle(question, name, places, of, cycle))
    known = persistence.render() if persistence is not None else answer.reason
    if switching:
        known = "; ".join(filter(None, (known, *(f"from its own start: {reading.reason}" for reading in readings))))
    open_still = next((_predicted(name, reading) for reading in readings if reading.verdict == "cycle"), None)
    if open_still is not None and not switching:
        known = "; ".join(filter(None, (known, *(reading.reason for reading in readings))))
    nothing = f"no oscillation of {name} found, none excluded{f': {known}' if known else ''}"
    return question.undecided(open_still or nothing, places, of, bound=known)


def _predicted(name: str, cycle: CycleReading) -> str:
    """Returns the words for a cycle that no run has confirmed."""
    every = render_seconds(float(f"{cycle.period or 0:.4g}"))
    moves = _moves({path: (low, high) for path, low, high in cycle.ranges if high > low})
    return f"an oscillation of {name} is predicted ({moves}, every {every}), and no run has confirmed it"


def _readings(model: Model, paths: Sequence[str], deadline: Deadline) -> tuple[CycleReading, ...]:
    """Returns what flows with kinks come to, as far as the time reaches."""
    readings: list[CycleReading] = []
    with suppress(TimeOverError), deadline.ending():
        readings.extend(cycles_of_flows(model, paths, {}, deadline))
    return tuple(readings)


def _swinging(
    question: Question, name: str, places: Sequence[Place], of: Sequence[str], persistence: Persistence,
    assumptions: Sequence[str] = (),
) -> Finding:  # fmt: skip
    """Returns the conflict of what never rests by its roots and by a run, with the period that the run shows."""
    assert persistence.run is not None
    assert persistence.period is not None
    ends, period = persistence.run.ranges, persistence.run.period
    numbers: Numbers = {} if period is None else {"period": (float(f"{period:.4g}"), "s")}
    numbers |= {"linear rate": (persistence.rate, "1/s"), "linear period": (persistence.period, "s")}
    numbers |= {f"{path} {end}": (value, "") for path in ends for end, value in _ends(ends[path])}
    evidence = Evidence(
        Grade.SIMULATED, "roots of every operating point inside the bounds, and execution in floats", numbers=numbers
    )
    every = "" if period is None else f", about every {render_seconds(float(f'{period:.4g}'))}"
    lasting = render_seconds(float(f"{persistence.run.seconds:.3g}"))
    wider = f", ever wider in a run of {lasting}" if persistence.run.grows else ""
    message = f"{name} never {_settles(of)}: {_moves(ends)}{wider}{every}; {persistence.render()}"
    return question.conflict(message, places, of, evidence, certain=False, assumptions=assumptions)


def _on_cycle(
    question: Question, name: str, places: Sequence[Place], of: Sequence[str], cycle: CycleReading
) -> Finding:
    assert cycle.period is not None
    ends = {path: (low, high) for path, low, high in cycle.ranges if high > low}
    numbers: Numbers = {"period": (cycle.period, "s")}
    numbers |= {f"{path} {end}": (value, "") for path in ends for end, value in _ends(ends[path])}
    evidence = Evidence(Grade.SIMULATED, f"{cycle.method} {CYCLE}", numbers=numbers)
    every = render_seconds(float(f"{cycle.period:.4g}"))
    settles = _settles(cycle.loop.split(", "))
    message = f"{name} never {settles}: {_moves(ends)}, every {every}"
    return question.conflict(message, places, of, evidence, certain=False)


def _ends(ends: tuple[float, float]) -> tuple[tuple[str, float], tuple[str, float]]:
    return ("lowest", ends[0]), ("highest", ends[1])


def _settles(of: Sequence[str]) -> str:
    return "settles" if len(of) == 1 else "settle"


def _moves(ends: Ranges) -> str:
    return ", ".join(
        f"{path} between {render_decimal(Fraction(f'{low:.4g}'))} and {render_decimal(Fraction(f'{high:.4g}'))}"
        for path, (low, high) in ends.items()
    )
