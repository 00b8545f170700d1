"""Writes certificates of runs that recur, as SMT-LIB: every value again from the formulas of the design.

A script claims, of each run up to its recurrence: what was sampled is what was left, landed or flowed (a flow
has its rate at every time of a piece); what each due loop decided is what its law, windows, rate limits, streaks
and bounds give; what stepped is what its formula gives; the last instant leaves what an earlier one left, with
all that is remembered; and the promise holds.  Another part claims that the runs start from every start.
Rates of change, means and streaks are written out over the numbers of the run: nothing is taken from the executor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from coherence.base.solver import confirmed, joined
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.lower_smt import lower_smt, real, symbol
from coherence.language.expressions.tree import Tree
from coherence.model.model import Interval, Model
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.bounded_response import BoundedResponse, ResponseSample, waits
from coherence.simulate.execute.certificates.run_followed import Follower
from coherence.simulate.execute.certificates.run_frames import CLOCK, MOST_WORK, Frame, literal, while_moving
from coherence.simulate.execute.certificates.run_recurrence import Known, known, recurs
from coherence.simulate.execute.exact import Instant, MissingValueError
from coherence.simulate.execute.orbits import Drift, LongRun

MOST_CLAIMS, MOST_INSTANTS, CHECK_MS = 6_000, 12_000, 2_000
NOT_CARRIED = (NotExactError, MissingValueError, ZeroDivisionError, KeyError)
PROMISED = "promise"
Promise = tuple[str, Tree]


def certificate(
    model: Model,
    runs: Iterable[LongRun],
    promise: Promise | None = None,
    *,
    rest: bool = False,
    response: BoundedResponse | None = None,
    again: Fraction | None = None,
) -> str | None:
    """A script to be refuted: no run does otherwise at any instant up to its recurrence; None where it is not carried.

    `promise`: (kind, condition) that is claimed too, or `response`; `rest`: nothing changes on the lap;
    `again`: with what period a schedule goes on for ever (s).  Not carried: windows of windows, streaks looked at
    later, more than MOST_WORK, what z3 does not confirm in CHECK_MS.
    Raises InternalError for a script that z3 cannot read.
    """
    claims, every, work = dict[str, None](), tuple(runs), 0
    if not every or sum(len(run.instants) for run in every) > MOST_INSTANTS:
        return None
    try:
        for run in every:
            follower = Follower(model, run)
            claims.update(dict.fromkeys(_claims(follower, promise, rest=rest, response=response, again=again)))
            work += follower.frames.work
            if len(claims) > MOST_CLAIMS or work > MOST_WORK:
                return None
        script = joined([_script(list(claims)), *_every_start(model, every)])
    except NOT_CARRIED:
        return None
    return script if confirmed(script, timeout_ms=CHECK_MS) else None


def _script(claims: list[str]) -> str:
    body = "\n  ".join(claims)
    clock = f"(declare-const |{CLOCK}| Real)\n" if any(CLOCK in claim for claim in claims) else ""
    return f"(set-logic QF_NIRA)\n{clock}(assert (not (and true\n  {body})))\n(check-sat)\n"


def _claims(
    follower: Follower, promise: Promise | None, *, rest: bool, response: BoundedResponse | None = None,
    again: Fraction | None = None,
) -> list[str]:  # fmt: skip
    """Claims of every instant, that the run recurs, and what is promised."""
    run, orbit = follower.run, follower.run.orbit
    if run.drift is not None and promise is not None:
        return _drifting(follower, run.drift, promise)
    if orbit is None or not orbit.exact:
        raise NotExactError("a run that does not recur exactly")
    begin: tuple[Fraction, Known] | None = None
    promised, seen, start = list[str](), list[ResponseSample](), 0
    looked: tuple[Tree, ...] = (promise[1],) if promise is not None else response.trees if response is not None else ()
    for number in range(len(run.instants)):
        instant = follower.follow(number)
        lap = instant.time >= orbit.lap[0].time
        if promise is not None:
            promised += _promised(follower, number, promise, lap=lap)
        if response is not None:
            seen += _answered(follower, instant, response)
        if rest and lap:
            follower.claims += _still(follower.model, instant, orbit.lap[0])
        if number + 1 < len(run.instants) and run.instants[number + 1].time == orbit.lap[0].time:
            start, begin = len(seen), (instant.time, known(follower, instant, looked, again))
    if begin is None:
        raise NotExactError("a run that does not recur exactly")
    last = run.instants[-1]
    follower.claims += recurs(follower, begin[1], known(follower, last, looked, again), last.time - begin[0], again)
    if promise is not None and promise[0] == "eventually":
        promised = [f"(or {' '.join(dict.fromkeys(promised))})"]
    if response is not None:
        promised += _in_time(seen, start, last.time - begin[0], response.within)
    return [*follower.claims, *promised]


def _drifting(follower: Follower, drift: Drift, promise: Promise) -> list[str]:
    """Claims of every instant, that all later laps take the steps of those that are followed, and what is promised."""
    promised = list[str]()
    for number, instant in enumerate(follower.run.instants):
        follower.follow(number)
        promised += _promised(follower, number, promise, lap=instant.time > drift.start)
    if promise[0] == "eventually":
        promised = [f"(or {' '.join(dict.fromkeys(promised))})"]
    return [*follower.claims, *drift.claims, *promised]


def _answered(follower: Follower, instant: Instant, response: BoundedResponse) -> Iterator[ResponseSample]:
    """Yields the two conditions of a response, as sampled and after an instant."""
    for values in (instant.sampled, instant.after):
        frame = Frame(instant.time, values, PROMISED)
        first, then = (bool(follower.frames.settled(tree, frame)) for tree in response.trees)
        before = values is instant.sampled and not follower.frames.count
        yield ResponseSample(Fraction(0) if before else instant.time, first, then)


def _in_time(seen: list[ResponseSample], lap: int, period: Fraction, within: Fraction) -> Iterator[str]:
    """Each answer comes at most so much later."""
    for wait in waits(seen, lap, period, within):
        if wait.served is None:
            raise NotExactError("an answer that does not come in time")
        yield f"(<= (- {real(wait.served)} {real(wait.since)}) {real(within)})"


def _promised(follower: Follower, number: int, promise: Promise, *, lap: bool) -> Iterator[str]:
    """Yields the promise over the numbers of one instant and of the piece before it (`eventually`: its terms)."""
    kind, condition = promise
    instant, frames = follower.run.instants[number], follower.frames
    always = kind in ("always", "never")
    moments = (instant.sampled, instant.after)
    terms = [lower_smt(frames.ground(condition, Frame(instant.time, values, PROMISED))) for values in moments]
    if kind == "eventually":
        yield from terms
        return
    if always or lap:
        wanted = literal(kind != "never")
        yield from (f"(= {term} {wanted})" for term in terms)
        before = follower.run.instants[number - 1].time if number else instant.time
        if frames.flowing and number and before < instant.time:
            piece = frames.along(before, instant.time, PROMISED)
            term = lower_smt(frames.ground(condition, piece))
            yield while_moving(instant.time - before, f"(= {term} {wanted})")


def _still(model: Model, instant: Instant, first: Instant) -> Iterator[str]:
    for path in (*model.states, *model.commands):
        for values in (instant.sampled, instant.after):
            yield f"(= {real(plain(values[path]))} {real(plain(first.sampled[path]))})"


def _every_start(model: Model, runs: tuple[LongRun, ...]) -> Iterator[str]:
    """No whole number of a range is a start that was left out; the values are taken with one another."""
    opened = {p: s.initial for table in (model.states, model.commands) for p, s in table.items()}
    opened = {p: span for p, span in opened.items() if not span.exact}
    taken = {path: sorted({plain(run.choices.values[path]) for run in runs}) for path in opened}
    combined = {tuple(run.choices.values[path] for path in opened) for run in runs}
    count = 1
    for path, span in opened.items():
        count *= len(taken[path])
        yield _covered(path, span, taken[path])
    if len(combined) != count:
        raise NotExactError("starts that are not taken with one another")


def _covered(path: str, span: Interval, taken: list[Fraction]) -> str:
    name = symbol(path)
    ends = [] if span.low is None else [f"(<= {real(span.low)} (to_real {name}))"]
    ends += [] if span.high is None else [f"(<= (to_real {name}) {real(span.high)})"]
    among = " ".join(f"(= (to_real {name}) {real(value)})" for value in taken)
    return (
        f"(set-logic QF_NIRA)\n(declare-const {name} Int)\n(assert (and {' '.join(ends)}))\n"
        f"(assert (not (or {among})))\n(check-sat)\n"
    )
