"""Groups of loops in feedback: exact long runs, orbits, the linear verdict beside them, and repairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.clock import is_over, left_until, now
from coherence.base.number_text import render_clock, render_seconds
from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.base.solver import joined
from coherence.findings import repairs
from coherence.findings.finding import Edit, Evidence, Finding, Grade, Repair, Verdict
from coherence.findings.question_input import Question, Subject
from coherence.language.design import Design
from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.linear import Linear, linearise
from coherence.loops.designs.one_way import comes_to_rest
from coherence.loops.designs.range_rests import RangeRests, StillSwingingError, rests_in_range
from coherence.model.model import Model, SampledLoop, unit_of
from coherence.model.sampled_loops import has_open_windows
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.certificates.run_certificates import certificate
from coherence.simulate.execute.exact import Choices, MissingValueError, replay
from coherence.simulate.execute.orbits import FollowedRun, LongRun, long_run
from coherence.simulate.execute.single_loop_runs import SEVERAL, Rests, every, every_rest
from coherence.simulate.execute.slices import VALUE_OF, feedback_groups, lacking, modes_read, sliced
from coherence.simulate.execute.starts import corners, fixed_at
from coherence.simulate.execute.timeline import shown, timeline, told_choices, told_constants
from coherence.verify.promises.certainty import POSSIBLE, Certainty
from coherence.verify.promises.every_delay import for_every_delay
from coherence.verify.promises.exact_runs import every_run

LAPS, MOST_INSTANTS, MOST_STARTS = 160, 6_000, 1_200
LONGER = 3  # times the laps for a run that neither settles nor repeats in them: a slow cycle has many laps
ONE_WAY_SHARE = 1 / 3  # of the time that is left: the proof is also tried of each repair


@dataclass(frozen=True)
class Group:
    """Loops that influence each other, and the part of the model that they need."""

    loops: tuple[SampledLoop, ...]
    model: Model

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(loop.name for loop in self.loops)

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(place(loop) for loop in self.loops)

    @property
    def signals(self) -> tuple[str, ...]:
        """Returns the commands that the loops write, and the names of loops whose on and off others read."""
        modes = modes_read(self.model)
        written = dict.fromkeys(loop.signal for loop in self.loops if loop.signal)
        return (*written, *(loop.name for loop in self.loops if loop.name in modes))


def place(loop: SampledLoop) -> Place:
    """Returns where the loop says how it acts."""
    actuation, target = loop.source.actuation, loop.source.target
    if target is not None and target.signal is not None:
        return target.signal.place.labelled(f"{loop.name} reads this every {render_seconds(loop.period)}")
    if actuation is not None and actuation.signal is not None:
        return actuation.signal.place.labelled(f"{loop.name} writes this every {render_seconds(loop.period)}")
    return loop.source.place.labelled(f"{loop.name} decides every {render_seconds(loop.period)}")


@cached
def groups(subject: Subject) -> tuple[Group, ...]:
    """Returns loops in feedback, in order of declaration."""
    model = subject.model
    signals = ((loops, tuple(loop.signal for loop in loops if loop.signal)) for loops in feedback_groups(model))
    return tuple(Group(loops, sliced(model, written)) for loops, written in signals)


def needs(subject: Subject, group: Group) -> str:
    """Returns the fact without which the group cannot be run, in words; empty where it can."""
    return lacking(subject.model, tuple(loop.signal for loop in group.loops if loop.signal), group.model.inputs)


def runs(subject: Subject, group: Group) -> tuple[LongRun, ...]:
    """Returns the exact run from each end of the ranges, as many as the time limit allows and at least one.

    Raises NotExactError, MissingValueError.
    """
    query = (runs, *group.names)
    return subject.queries.get(query, lambda: _runs(group.model, now() + subject.time_limit))


def _runs(model: Model, deadline: float) -> tuple[LongRun, ...]:
    corner_runs: list[LongRun] = []
    first: FollowedRun | None = None
    for choices in corners(model):
        if first is not None and is_over(deadline):
            break
        followed = FollowedRun(model, choices)
        first = first or followed
        corner_runs.append(followed.until(LAPS, MOST_INSTANTS, bool))
    if first is not None and all(run.orbit is None for run in corner_runs) and not is_over(deadline):
        corner_runs[0] = _longer(first, corner_runs[0])
    return tuple(corner_runs)


def _longer(followed: FollowedRun, run: LongRun) -> LongRun:
    """Returns the run over more laps, where its numbers stay short enough; else the run."""
    try:
        return followed.until(LONGER * LAPS, MOST_INSTANTS, bool)
    except NotExactError:
        return run


def answer(question: Question, subject: Subject, number: int) -> Finding:
    """Returns the finding about one of the groups of loops in feedback."""
    group = groups(subject)[number]
    missing = needs(subject, group)
    if missing:
        return question.undecided(
            f"oscillation of {' and '.join(group.names)}: needs {missing}", group.places, group.names,
            lacks_number=missing.startswith(VALUE_OF),
        )  # fmt: skip
    return _for_every_delay(question, subject, number) or _decide(question, subject, group)


def _for_every_delay(question: Question, subject: Subject, number: int) -> Finding | None:
    """Returns the answer about a group for every delay that is open; None where none is."""

    def part(design: Design) -> Model:
        return groups(replace(subject, design=design))[number].model

    def ask(case: Subject) -> Finding:
        return _decide(question, case, groups(case)[number])

    return for_every_delay(question, subject, part, ask)


def _decide(question: Question, subject: Subject, group: Group) -> Finding:
    try:
        return _answer(question, subject, group)
    except (NotExactError, MissingValueError) as error:
        reason = f"needs {error}" if isinstance(error, MissingValueError) else f"not exact: {error}"
        return question.undecided(f"oscillation of {' and '.join(group.names)}: {reason}", group.places, group.names)


def _answer(question: Question, subject: Subject, group: Group) -> Finding:
    deadline = now() + subject.time_limit
    corner_runs = runs(subject, group)
    swinging = [run for run in corner_runs if oscillates(group, run)]
    if not swinging:
        rests, why, other = _rests(group, deadline)
        finding = _settles(question, group, corner_runs, rests, why, deadline)
        if finding.verdict is not Verdict.PROVED and not _is_open(group.model):
            other = _swinging(group, deadline)
        return finding if other is None else swing_finding(question, subject, group, other, POSSIBLE)
    certainty = every_run(group.model, corner_runs, lambda run: oscillates(group, run), subject.time_limit)
    return swing_finding(question, subject, group, swinging[0], certainty)


def _rests(group: Group, deadline: float) -> tuple[Rests | RangeRests, str, LongRun | None]:
    """Returns the runs of every start if all settle, else why not, and the run that swings at a value of a range."""
    try:
        return all_settle(group, deadline), "the time limit", None
    except StillSwingingError as error:
        return Rests(0, ()), str(error), error.run if oscillates(group, error.run) else None
    except (NotExactError, MissingValueError) as error:
        return Rests(0, ()), str(error), None


def _swinging(group: Group, deadline: float) -> LongRun | None:
    """Returns the first of the other starts and phases that never settles, where they are finitely many and time is
    left.
    """
    try:
        for choices in every(group.model, MOST_STARTS):
            if is_over(deadline):
                return None
            run = long_run(group.model, choices, laps=LAPS, most=MOST_INSTANTS)
            if oscillates(group, run):
                return run
    except (NotExactError, MissingValueError):
        pass  # not finitely many, or not exact: what was run already is the answer
    return None


def oscillates(group: Group, run: LongRun) -> bool:
    """Decides whether a command of the group keeps changing direction on the orbit, or a loop goes on and off."""
    return run.orbit is not None and any(map(run.orbit.turns, group.signals))


def swing_finding(question: Question, subject: Subject, group: Group, run: LongRun, certainty: Certainty) -> Finding:
    """Returns the conflict that a run of a group shows, on whose orbit commands turn for ever."""
    orbit = run.orbit
    assert orbit is not None
    numbers: dict[str, tuple[Fraction | float | int, str]] = {"period": (orbit.period, "s")}
    moves = []
    for signal in group.signals:
        low, high = orbit.range_of(signal)
        if signal in group.names:
            moves += [f"{signal} on and off"] if low != high else []
            continue
        unit = str(unit_of(group.model, signal)) if unit_of(group.model, signal).powers else ""
        numbers[f"{signal} lowest"], numbers[f"{signal} highest"] = (low, unit), (high, unit)
        if low != high:
            moves.append(f"{signal} between {shown(group.model, signal, low)} and {shown(group.model, signal, high)}")
    numbers |= _linear_numbers(_linear(group, run))
    laps = max(1, int(Fraction(40) / max(1, len(orbit.lap))))
    seen = [i for i in run.instants if i.time <= orbit.start + orbit.period * laps][-60:] or list(run.instants[-60:])
    if not replay(group.model, run.choices, list(run.instants[:500])):
        return question.undecided("the witness does not replay", group.places, group.names)
    evidence = Evidence(
        Grade.PROVED,
        "exact execution to a recurrence" if orbit.exact else "exact execution, rational orbit",
        timeline(group.model, seen),
        numbers=numbers,
        replayed=True,
    )
    verb = "never settles" if len(group.loops) == 1 else "never settle"
    message = f"{' and '.join(group.names)} {verb}: {', '.join(moves)}, every {render_clock(orbit.period)}"
    return question.conflict(
        message, group.places, group.names, evidence, certain=certainty.certain,
        repairs=_repairs(subject, group),
        assumptions=(*told_choices(group.model, run.choices), *certainty.assumptions, *group.model.abstractions),
    )  # fmt: skip


def middle(model: Model, run: LongRun) -> dict[str, Fraction]:
    """Returns the mean over the orbit (or the last instants) of every state and command."""
    lap = run.orbit.lap if run.orbit else run.instants[-12:]
    names = (*model.states, *model.commands)
    return {n: sum((plain(i.after[n]) for i in lap), Fraction(0)) / len(lap) for n in names}


def _linear(group: Group, run: LongRun) -> Linear | None:
    """Returns the linear verdict near the middle of the orbit, where the loops have a smooth law."""
    if run.orbit is None or any(loop.law != "proportional" for loop in group.loops):
        return None
    try:
        return linearise(fixed_at(group.model, run.choices), middle(group.model, run))
    except (NotExactError, MissingValueError):
        return None  # the law has no derivative there; the runs alone decide


def _linear_numbers(linear: Linear | None) -> dict[str, tuple[Fraction | float | int, str]]:
    """Returns the growth and period; at a kink those of each branch, named by the side that it takes."""
    if linear is None:
        return {}
    numbers: dict[str, tuple[Fraction | float | int, str]] = {}
    for sides, branch in linear.branches:
        where = f" where {sides}" if sides and len(linear.branches) > 1 else ""
        numbers[f"linear growth per lap{where}"] = (branch.modulus, "")
        if branch.period is not None:
            numbers[f"linear period{where}"] = (branch.period * float(linear.lap), "s")
    return numbers


def _repairs(subject: Subject, group: Group) -> Iterator[Repair]:
    """Yields one owner for a field that two write, and longer hold-down windows of proportional loops."""
    yield from _one_owner(subject, group)
    yield from _longer_windows(subject, group)


def _one_owner(subject: Subject, group: Group) -> Iterator[Repair]:
    """Yields that a loop leaves a field alone that another one writes too, or is not there."""
    writers = Counter(loop.signal for loop in group.loops)
    for loop in group.loops:
        if writers[loop.signal] < 2:
            continue
        to = loop.source.actuation.to if loop.source.actuation is not None else None
        old = repairs.text_at(subject.sources, to.place) if to is not None else None
        edit = Edit(to.place, old, "unset") if to is not None and old else repairs.without(subject, loop.source.place)
        yield from [repair] if (repair := repairs.proposal(edit)) is not None else []


def _longer_windows(subject: Subject, group: Group) -> Iterator[Repair]:
    """Yields a hold-down window of one, three, ... periods for a proportional loop that has none that long."""
    for loop in group.loops:
        timescale = loop.source.timescale
        if loop.law != "proportional" or timescale is None or timescale.period is None:
            continue
        for count in (1, 3, 5, 7, 9):
            if loop.period * count <= loop.hold_down:
                continue
            window = loop.period * (count + has_open_windows(timescale))
            if timescale.hold_down is not None:
                repair = repairs.proposal(repairs.change(subject, timescale.hold_down, window))
            else:
                repair = repairs.proposal(
                    repairs.insert(subject, timescale.period.place, "hold_down", repairs.duration_text(subject, window))
                )
            if repair is not None:
                yield repair


def _settles(
    question: Question, group: Group, runs: Sequence[LongRun], rests: Rests | RangeRests, why: str, deadline: float
) -> Finding:
    names = " and ".join(group.names)
    of_runs = ((_linear(group, run), run.choices) for run in runs if run.orbit)
    linear, choices = next((pair for pair in of_runs if pair[0] is not None), (None, Choices()))
    chosen = told_constants(group.model, choices)
    numbers = _linear_numbers(linear)
    sensors = any(loop.source.target and loop.source.target.sensor for loop in group.loops)
    assumptions = (
        *group.model.abstractions,
        *(("sensors sample at multiples of their period",) if sensors else ()),
        *(("the linear figures leave out " + ", ".join(linear.dropped),) if linear and linear.dropped else ()),
        *((f"the linear figures are of {', '.join(chosen)}",) if chosen else ()),
    )
    if isinstance(rests, RangeRests):
        assumptions = (*group.model.abstractions, rests.assumed)
    evidence, how = (_executed(group, rests, numbers), "") if rests.starts else _moved_one_way(group, runs, deadline)
    if evidence is not None:
        verb = "settles" if len(group.loops) == 1 else "settle"
        message = f"{names} {verb} from {render_start(group.model)}{how}"
        return question.proved(message, group.places, group.names, evidence, assumptions=assumptions)
    ended = sum(1 for run in runs if run.orbit is not None)
    growth = f", linear growth per lap {linear.verdict.modulus:.4g}" if linear else ""
    bound = f"{ended} of {len(runs)} runs settle within {LAPS} laps{growth}; not every start: {why}"
    return question.undecided(
        f"no oscillation of {names} found, none excluded: {_unproved(group.model, runs, why)}",
        group.places,
        group.names,
        bound=bound,
        assumptions=assumptions,
    )


def _unproved(model: Model, runs: Sequence[LongRun], why: str) -> str:
    """Returns what the runs did, which facts are open, and what else kept them from a proof, in words."""
    ended = sum(1 for run in runs if run.orbit is not None)
    done = "the run that was tried settles" if ended == len(runs) == 1 else f"{ended} of {len(runs)} runs tried settle"
    undone = next((run.orbit.undone for run in runs if run.orbit is not None and run.orbit.undone), ())
    done = f"{' and '.join(undone)} undo each other within one instant of a run that was tried" if undone else done
    begins = [path for table in (model.commands, model.states) for path, s in table.items() if not s.initial.exact]
    free = [loop.name for loop in model.loops if loop.phase is None and (len(model.loops) > 1 or model.states)]
    ranges = [path for path, constant in model.constants.items() if not constant.range.exact and path not in why]
    facts = [
        *([f"where {' and '.join(begins)} {'begins' if len(begins) == 1 else 'begin'} (`from`)"] if begins else ()),
        *([f"`phase` of {' and '.join(free)}"] if free else ()),
        *(f"the value of {path}" for path in ranges),
    ]
    if why == SEVERAL:
        why = "" if facts else "that no other run of these loops is possible is not shown"
    return "; ".join(filter(None, (done, f"open: {', '.join(facts)}" if facts else "", why)))


def render_start(model: Model) -> str:
    """Returns what a proof is of: the one start that a design states, or each of those that it leaves open."""
    initial = [*(s.initial for s in model.states.values()), *(c.initial for c in model.commands.values())]
    return "its start" if all(interval.exact for interval in initial) else "every start"


def _is_open(model: Model) -> bool:
    """Decides whether a constant is an unknown number of a range."""
    return any(not constant.range.exact for constant in model.constants.values())


def all_settle(group: Group, deadline: float) -> Rests | RangeRests:
    """Returns the runs of every start, for every value of a range, if all settle; none where time runs out."""

    def late() -> bool:
        return is_over(deadline)

    if _is_open(group.model):
        rests = rests_in_range(group.model, laps=LAPS, most=MOST_INSTANTS, starts=MOST_STARTS, late=late)
        return rests or Rests(0, ())
    return every_rest(group.model, laps=LAPS, most=MOST_INSTANTS, starts=MOST_STARTS, late=late)


def _executed(
    group: Group, rests: Rests | RangeRests, numbers: dict[str, tuple[Fraction | float | int, str]]
) -> Evidence:
    proof = certificate(group.model, rests.runs, rest=True)
    if isinstance(rests, RangeRests):
        numbers, proof = {}, joined([proof, rests.script()]) if proof is not None else None
    return Evidence(
        Grade.PROVED, f"exact execution of {rests.render()} to a recurrence", numbers=numbers, certificate=proof
    )


def _moved_one_way(group: Group, runs: Sequence[LongRun], deadline: float) -> tuple[Evidence | None, str]:
    """Returns the proof that no command is ever moved both ways, where time is left for it, and what it shows."""
    limit = left_until(deadline) * ONE_WAY_SHARE
    evidence = comes_to_rest(group.model, group.loops, runs, limit) if limit > 0 else None
    return evidence, ": no command is ever moved both ways"
