"""Tells whether the waiting of each burst is that of any busy machine, or an instability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from coherence.base.number_text import render_number
from coherence.causal.answers.answer import Section, TextTable
from coherence.causal.data.index_inputs import ArrivalBurst, IndexInputs, latency_requests, missing_inputs
from coherence.causal.data.request_log import RequestLog
from coherence.causal.indices import MeasuredIndex, measured_indices
from coherence.causal.session.context import Context
from coherence.causal.twins.bursts import bursts
from coherence.causal.twins.queueing import LOCAL, QueueingDecision, decide

ORDER = 85
TITLE = "Queueing: of a busy machine, or instability"
MOST, FEWEST = 20, 100  # bursts told; requests that a decision needs


def answer(context: Context) -> Section | None:
    """One decision for each burst; where none is seen, one for the whole log."""
    given = context.request_inputs
    if given is None or given.facts.log is None:
        return None
    lacks = missing_inputs(given.facts, twin=True)
    if lacks:
        return Section(TITLE, tuple(f"refused: measure {what}" for what in lacks), {"refused": list(lacks)})
    index = measured_indices(given.facts, ["WPI"])[0]
    wave = index.estimate if isinstance(index, MeasuredIndex) else None
    decisions = [
        (burst, decide(facts, seed=context.settings.seed, burst=burst, wave=wave))
        for facts, burst in _pieces(given.facts)
    ]
    if not decisions:
        return Section(TITLE, (f"refused: a decision needs {FEWEST} requests",), {"refused": [f"{FEWEST} requests"]})
    rows = tuple(_row(burst, one) for burst, one in decisions[:MOST])
    header = ("where", "verdict", "waits", "a coordinated machine", "p")
    more = [f"and {len(decisions) - MOST} more, in -o json"] if len(decisions) > MOST else []
    reasons = [
        f"{_where(burst)}: {why}" for burst, one in decisions[:MOST] if one.verdict != LOCAL for why in one.reasons
    ]
    return Section(
        TITLE, (TextTable(header, rows, 2), *more, *reasons), {"decisions": [_data(*pair) for pair in decisions]}
    )


def _pieces(facts: IndexInputs) -> Iterator[tuple[IndexInputs, ArrivalBurst | None]]:
    """Each burst from its start to the next one; the whole log where there is none.

    All services are looked at together: they share the servers of the class.  A stretch begins only where no more
    requests are present than there are servers, for its twin begins empty; until then a burst is part of the last one.
    """
    log = latency_requests(facts)
    apart = _apart(bursts(facts, log), log, facts.servers or 1)
    ends = [*(one.start for one in apart[1:]), log.until]
    every: list[ArrivalBurst | None] = [*apart] if apart else [None]
    for burst, end in zip(every, ends, strict=True):
        part = log if burst is None else _between(log, burst.start, end)
        if len(part) >= FEWEST:
            yield replace(facts, log=part, latency_class=None), burst


def _apart(seen: Iterable[ArrivalBurst], log: RequestLog, servers: int) -> list[ArrivalBurst]:
    """Bursts that overlap, or between which the servers never come to rest, are one."""
    merged: list[ArrivalBurst] = []
    ends = log.arrival + log.sojourn
    for next_burst in sorted(seen, key=lambda burst: burst.start):
        present = int(((log.arrival < next_burst.start) & (ends > next_burst.start)).sum())
        if merged and (next_burst.start < merged[-1].end or present > servers):
            names = dict.fromkeys([*merged[-1].service.split(" and "), next_burst.service])
            merged[-1] = ArrivalBurst(" and ".join(names), merged[-1].start, max(merged[-1].end, next_burst.end))
        else:
            merged.append(next_burst)
    return merged


def _between(log: RequestLog, start: float, end: float) -> RequestLog:
    return replace(log.where((log.arrival >= start) & (log.arrival <= end)), until=end)


def _where(burst: ArrivalBurst | None) -> str:
    if burst is None:
        return "the whole log, without bursts"
    return f"{burst.service} burst at {render_number(burst.start, 6)} s".strip()


def _row(burst: ArrivalBurst | None, one: QueueingDecision) -> tuple[str, ...]:
    return (
        _where(burst), one.verdict, f"{render_number(one.wait, 3)} s", f"{render_number(one.twin_wait, 3)} s",
        render_number(one.p, 2),
    )  # fmt: skip


def _data(burst: ArrivalBurst | None, decision: QueueingDecision) -> dict[str, Any]:
    numbers = {
        "p": decision.p, "wait_s": decision.wait, "coordinated_wait_s": decision.twin_wait,
        "attempts": decision.attempts,        "quiet_after_s": decision.quiet_after, "drain_s": decision.drain,
    }  # fmt: skip
    finite = {name: amount if abs(amount) < float("inf") else None for name, amount in numbers.items()}
    where = {
        "service": burst.service if burst else None,
        "start": burst.start if burst else None,
        "end": burst.end if burst else None,
    }
    return {
        **where,
        "verdict": decision.verdict,
        "reasons": list(decision.reasons),
        "overloaded": decision.overloaded,
        **finite,
    }
