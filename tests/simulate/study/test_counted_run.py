"""Conditions on counts of requests hold or break at every event: beside the counts that finished requests tell."""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from coherence.language.reading import read_text
from coherence.simulate.processes import processes
from coherence.simulate.requests.engine import RequestRun
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

UNTIL, LAST = 40.0, 36.0
DESIGN = """\
coherence: 1
workload:
  clients: {{rate: {rate} req/s, service: {{mean: {service} ms, cv: {cv}}}}}
components:
  workers: {{copies: {copies}, twice: 2 * workers.waiting + workers.in_flight}}
calls: [{{from: clients, to: workers}}]
promises: {{p: "{promise}"}}
"""


@dataclass(frozen=True)
class Span:
    """A time in which nothing changes, with what is counted in it."""

    begin: float
    end: float
    waiting: int
    there: int


Truth = Callable[[Span], bool]


def spans_of(text: str, seed: int) -> list[Span]:
    """Returns the counts over time, from when requests came, began and ended, read off those that have ended."""
    program = processes(read_text(text)).program
    run = RequestRun(program, seed=seed)
    run.advance(UNTIL * 4)
    done = run.result().requests
    changes: list[tuple[float, int, int]] = []
    for start, end, need in zip(done.start.tolist(), done.end.tolist(), done.need.tolist(), strict=True):
        begun = max(start, end - need)
        changes += [(start, 0, 1), (end, 0, -1)]
        changes += [(start, 1, 0), (begun, -1, 0)] if begun - start > 1e-9 else []
    times = sorted({0.0, UNTIL, *(time for time, _, _ in changes if time < UNTIL)})
    by_time = {time: list(group) for time, group in itertools.groupby(sorted(changes), key=lambda change: change[0])}
    waiting, there, spans = 0, 0, []
    for begin, end in itertools.pairwise(times):
        for _, more_waiting, more_there in by_time.get(begin, []):
            waiting, there = waiting + more_waiting, there + more_there
        spans.append(Span(begin, end, waiting, there))
    return spans


def held_for(spans: list[Span], truth: Truth, lasts: float) -> Iterator[tuple[float, float, bool]]:
    """Yields the spans in which a condition has held so long, or has not."""
    since: float | None = None
    for span in spans:
        since = (span.begin if since is None else since) if truth(span) else None
        turn = span.end if since is None else min(max(since + lasts, span.begin), span.end)
        if turn > span.begin:
            yield span.begin, turn, since is not None and since + lasts <= span.begin
        if turn < span.end:
            yield turn, span.end, True


def answer_by_hand(kind: str, told: list[tuple[float, float, bool]]) -> tuple[str, float | None]:
    """Returns the verdict of a promise on a condition, and when it is first broken."""
    if kind in ("always", "never"):
        broken = [begin for begin, _, holds in told if holds is (kind == "never")]
        return ("broken", broken[0]) if broken else ("held", None)
    if kind == "eventually":
        return ("held" if any(holds for _, _, holds in told) else "undecided"), None
    late = any(not holds and end > LAST for _, end, holds in told)
    return ("undecided" if late else "held"), None


@dataclass(frozen=True)
class Drawn:
    """A condition in the words of a promise, by hand, and for how long it has to hold."""

    words: str
    truth: Truth
    lasts: float = 0.0


def drawn(chance: random.Random, copies: int) -> Drawn:
    """Returns a condition on counts."""
    limit = chance.choice([0, 1, 2, 3, 5, 8, 13])
    more, lasts = limit + copies, chance.choice([0.02, 0.1, 0.3])
    return chance.choice(
        [
            Drawn(f"workers.waiting <= {limit}", lambda s: s.waiting <= limit),
            Drawn(f"workers.waiting == {limit}", lambda s: s.waiting == limit),
            Drawn(f"clients.in_flight < {more}", lambda s: s.there < more),
            Drawn(f"workers.waiting + clients.in_flight <= {more}", lambda s: s.waiting + s.there <= more),
            Drawn(f"clients.in_flight - 2 * workers.waiting >= {limit}", lambda s: s.there - 2 * s.waiting >= limit),
            Drawn(f"workers.twice <= {2 * more}", lambda s: 2 * s.waiting + s.there <= 2 * more),
            Drawn(f"min(workers.waiting, {limit}) < {limit}", lambda s: min(s.waiting, limit) < limit),
            Drawn(
                f"workers.waiting <= {limit} or clients.in_flight > {more + 3}",
                lambda s: s.waiting <= limit or s.there > more + 3,
            ),
            Drawn(f"workers.waiting > {limit} for {lasts} s", lambda s: s.waiting > limit, lasts),
            Drawn(f"workers.waiting / workers.ready <= {limit / 2}", lambda s: s.waiting / copies <= limit / 2),
        ]
    )


@pytest.mark.parametrize("number", range(60))
def test_a_count_is_judged_at_every_event(number: int) -> None:
    chance = random.Random(number)  # noqa: S311
    copies, service = chance.randint(1, 5), chance.choice([20, 40, 90])
    rate = round(copies * 1000 / service * chance.choice([0.4, 0.7, 0.9]), 1)
    kind = chance.choice(["always", "never", "eventually", "eventually_always"])
    condition = drawn(chance, copies)
    text = DESIGN.format(
        rate=rate, service=service, cv=chance.choice([0, 1]), copies=copies, promise=f"{kind} {condition.words}"
    )
    spans = spans_of(text, seed=number)
    (judged,) = study(read_text(text), Setting(UNTIL, seeds=(number,))).promises
    verdict, broken = answer_by_hand(kind, list(held_for(spans, condition.truth, condition.lasts)))
    assert str(judged.verdict) == verdict, text
    assert judged.seconds == pytest.approx(broken, abs=1e-6), text


@pytest.mark.parametrize("number", range(8))
def test_a_mean_of_a_count_is_judged_at_every_event(number: int) -> None:
    chance = random.Random(number)  # noqa: S311
    copies, limit, window = chance.randint(1, 3), chance.choice([0.5, 1.5, 3.0]), chance.choice([0.25, 1.0])
    promise = f"always mean_over(workers.waiting, {window} s) <= {limit}"
    text = DESIGN.format(rate=copies * 20, service=40, cv=1, copies=copies, promise=promise)
    spans = spans_of(text, seed=number)
    (judged,) = study(read_text(text), Setting(UNTIL, seeds=(number,))).promises
    verdict, broken = answer_by_hand("always", list(mean_at_most(spans, window, limit)))
    assert str(judged.verdict) == verdict, text
    assert judged.seconds == pytest.approx(broken, abs=1e-4), text


def mean_at_most(spans: list[Span], window: float, limit: float) -> Iterator[tuple[float, float, bool]]:
    """Yields where the mean of those that wait over the last seconds is at most a limit.

    It moves in straight lines.
    """
    areas = list(itertools.accumulate((s.waiting * (s.end - s.begin) for s in spans), initial=0.0))
    ends = [0.0, *(span.end for span in spans)]

    def area(time: float) -> float:
        place = min(max(bisect.bisect_right(ends, time) - 1, 0), len(spans) - 1)
        return areas[place] + spans[place].waiting * (max(time, 0.0) - ends[place])

    times = sorted({time for end in ends for time in (end, end + window) if time <= UNTIL})
    means = [float(area(time) - area(time - window)) / window for time in times]
    for (begin, low), (end, high) in itertools.pairwise(zip(times, means, strict=True)):
        if (low <= limit + 1e-9) == (high <= limit + 1e-9):
            yield begin, end, low <= limit + 1e-9
            continue
        turn = begin + (end - begin) * (limit - low) / (high - low)
        yield begin, turn, low <= limit
        yield turn, end, high <= limit
