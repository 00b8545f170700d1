"""Is the waiting of a burst that of any busy machine, or an instability?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from coherence.causal.answers.answer import Answer, Table, number
from coherence.causal.data.index_inputs import ArrivalBurst, IndexInputs, latency_requests, missing_inputs
from coherence.causal.data.request_log import RequestLog
from coherence.causal.indices import MeasuredIndex, measured_indices
from coherence.causal.session.context import Context
from coherence.causal.twins.bursts import bursts
from coherence.causal.twins.queueing import LOCAL, Decision, decide

ORDER = 85
TITLE = "Queueing: of a busy machine, or instability"
MOST, FEWEST = 20, 100  # bursts told; requests that a decision needs


def answer(context: Context) -> Answer | None:
    """One decision for each burst; where none is seen, one for the whole log."""
    given = context.asked
    if given is None or given.facts.log is None:
        return None
    lacks = missing_inputs(given.facts, twin=True)
    if lacks:
        return Answer(TITLE, tuple(f"refused: measure {what}" for what in lacks), {"refused": list(lacks)})
    index = measured_indices(given.facts, ["WPI"])[0]
    wave = index.estimate if isinstance(index, MeasuredIndex) else None
    found = [
        (burst, decide(facts, seed=context.settings.seed, burst=burst, wave=wave))
        for facts, burst in _pieces(given.facts)
    ]
    if not found:
        return Answer(TITLE, (f"refused: a decision needs {FEWEST} requests",), {"refused": [f"{FEWEST} requests"]})
    rows = tuple(_row(burst, one) for burst, one in found[:MOST])
    header = ("where", "verdict", "waits", "a coordinated machine", "p")
    more = [f"and {len(found) - MOST} more, in -o json"] if len(found) > MOST else []
    reasons = [f"{_where(burst)}: {why}" for burst, one in found[:MOST] if one.verdict != LOCAL for why in one.reasons]
    return Answer(TITLE, (Table(header, rows, 2), *more, *reasons), {"decisions": [_data(*pair) for pair in found]})


def _pieces(facts: IndexInputs) -> Iterator[tuple[IndexInputs, ArrivalBurst | None]]:
    """Each burst from its start to the next one; the whole log where there is none.

    All services are looked at together: they share the servers of the class.  A stretch begins only where no more
    requests are present than there are servers, for its twin begins empty; until then a burst is part of the last one.
    """
    log = latency_requests(facts)
    told = _apart(bursts(facts, log), log, facts.servers or 1)
    ends = [*(one.start for one in told[1:]), log.until]
    every: list[ArrivalBurst | None] = [*told] if told else [None]
    for burst, end in zip(every, ends, strict=True):
        part = log if burst is None else _between(log, burst.start, end)
        if len(part) >= FEWEST:
            yield replace(facts, log=part, latency_class=None), burst


def _apart(found: Iterable[ArrivalBurst], log: RequestLog, servers: int) -> list[ArrivalBurst]:
    """Bursts that overlap, or between which the servers never come to rest, are one."""
    made: list[ArrivalBurst] = []
    ends = log.arrival + log.sojourn
    for one in sorted(found, key=lambda burst: burst.start):
        present = int(((log.arrival < one.start) & (ends > one.start)).sum())
        if made and (one.start < made[-1].end or present > servers):
            names = dict.fromkeys([*made[-1].service.split(" and "), one.service])
            made[-1] = ArrivalBurst(" and ".join(names), made[-1].start, max(made[-1].end, one.end))
        else:
            made.append(one)
    return made


def _between(log: RequestLog, start: float, end: float) -> RequestLog:
    return replace(log.where((log.arrival >= start) & (log.arrival <= end)), until=end)


def _where(burst: ArrivalBurst | None) -> str:
    if burst is None:
        return "the whole log, without bursts"
    return f"{burst.service} burst at {number(burst.start, 6)} s".strip()


def _row(burst: ArrivalBurst | None, one: Decision) -> tuple[str, ...]:
    return (
        _where(burst), one.verdict, f"{number(one.wait, 3)} s", f"{number(one.twin_wait, 3)} s",
        number(one.p, 2),
    )  # fmt: skip


def _data(burst: ArrivalBurst | None, one: Decision) -> dict[str, Any]:
    numbers = {
        "p": one.p, "wait_s": one.wait, "coordinated_wait_s": one.twin_wait, "attempts": one.attempts,
        "quiet_after_s": one.quiet_after, "drain_s": one.drain,
    }  # fmt: skip
    finite = {name: amount if abs(amount) < float("inf") else None for name, amount in numbers.items()}
    where = {
        "service": burst.service if burst else None,
        "start": burst.start if burst else None,
        "end": burst.end if burst else None,
    }
    return {**where, "verdict": one.verdict, "reasons": list(one.reasons), "overloaded": one.overloaded, **finite}
