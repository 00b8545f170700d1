"""Decides whether the waiting of one burst at one node is legitimate queueing or an instability, with its reason.

1. `p = (1 + #{k : 1.5 W_k + 0.25 mean need >= W}) / (K + 1)` over K = 39 twins with the measured arrivals and permuted
   needs; W is the mean delay.  Waiting within half as much again, and a quarter of a need, of a coordinated machine is
   legitimate: p > 0.05.  A demand above capacity is legitimate too (the twin overloads with it): it asks for capacity.
2. Else *instability*, if it propagates (lower end of WPI above 0.5), amplifies (attempts per request above 1.05) or
   does not return (time to quiet above twice the drain time Q / (c - lambda)); every reason that holds is named.
3. Else *local excess*: a bottleneck or an overhead that stays where it is.

SOURCE: Barnard 1963 (Monte Carlo test); definitions 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from coherence.causal.answers.intervals import Estimate
from coherence.causal.data.index_inputs import ArrivalBurst, IndexInputs, latency_requests, missing_inputs
from coherence.causal.data.request_log import RequestLog
from coherence.causal.data.series import Floats
from coherence.causal.twins.coordinated_twin import Twin

REPLICATIONS = 39
LEVEL = 0.05
TIMES, PLUS = 1.5, 0.25  # of the twin's wait, and of a mean need
MOST_ATTEMPTS = 1.05
MOST_WPI = 0.5
MOST_DRAIN = 2.0

CAPACITY = "demand exceeds capacity, and a coordinated machine waits as well: this asks for capacity"
LEGITIMATE, INSTABILITY, LOCAL, UNDECIDED = "legitimate queueing", "instability", "local excess", "undecided"


@dataclass(frozen=True)
class QueueingDecision:
    """What the waiting of a node is, why, and the numbers that decided it.

    `p` of step 1; `wait` and `twin_wait` are mean delays (s), measured and median of the twins; `attempts` per request;
    `quiet_after` and `drain` seconds (NaN where nothing had to drain); `overloaded`: demand above capacity.
    """

    verdict: str
    reasons: tuple[str, ...]
    p: float
    wait: float
    twin_wait: float
    attempts: float
    quiet_after: float
    drain: float
    overloaded: bool
    node: str = ""

    def __str__(self) -> str:
        return f"{self.node + ': ' if self.node else ''}{self.verdict}: {'; '.join(self.reasons)}"


def decide(
    facts: IndexInputs, *, seed: int, node: str = "", burst: ArrivalBurst | None = None, wave: Estimate | None = None
) -> QueueingDecision:
    """Returns the decision for the latency class of a log, or for one node of it; its window should hold one burst.

    `burst` gives the end from which the return is timed (none: it is not timed); `wave` is the wave propagation index
    with its interval, if it was measured.  Undecided, with what is missing, where the twin cannot be made.
    """
    lacks = missing_inputs(facts, twin=True)
    if lacks:
        nan = math.nan
        return QueueingDecision(UNDECIDED, lacks, nan, nan, nan, nan, nan, nan, overloaded=False, node=node)
    log = latency_requests(facts)
    assert facts.servers is not None
    if node:
        log = log.where(log.service == log.services.index(node))
    waits = replicated(log, facts.servers, seed)
    wait, chance = float(log.delay.mean()), p_value(log, waits)
    quiet, drain = returns(log, facts.servers, burst.end) if burst is not None else (math.nan, math.nan)
    lasted = float(log.arrival[-1] - log.arrival[0])
    overloaded = 0 < facts.servers * lasted < float(log.need.sum())
    attempts = float(log.attempts.mean())
    numbers = wait, float(np.median(waits)), attempts, quiet, drain
    if chance > LEVEL:
        why = CAPACITY if overloaded else "a coordinated machine with these arrivals waits as long"
        if "attempts" not in log.lacks and attempts > MOST_ATTEMPTS:
            why += f"; retries add to it ({attempts:.3g} attempts for each request)"
        return QueueingDecision(LEGITIMATE, (why,), chance, *numbers, overloaded=overloaded, node=node)
    reasons = tuple(_reasons(log, attempts, quiet, drain, wave))
    if reasons:
        return QueueingDecision(INSTABILITY, reasons, chance, *numbers, overloaded=overloaded, node=node)
    why = (
        f"it waits {wait:.3g} s where a coordinated machine waits {numbers[1]:.3g} s; it neither spreads, nor amplifies"
    )
    return QueueingDecision(
        LOCAL, (why + _unknown(log, burst, wave),), chance, *numbers, overloaded=overloaded, node=node
    )


def replicated(log: RequestLog, servers: int, seed: int, count: int = REPLICATIONS) -> Floats:
    """Returns the mean delays of twins with the measured arrivals and permuted needs (s)."""
    rng = np.random.default_rng(seed)
    shuffled = (rng.permutation(log.need) for _ in range(count))
    waits = [Twin(log.arrival, needs, log.deadline, servers).mean_delay(1.0) for needs in shuffled]
    return np.maximum(waits, 0.0)  # where nobody waits, sojourn less need is not exactly 0


def p_value(log: RequestLog, waits: Floats) -> float:
    """Returns p of the hypothesis that the waiting is a coordinated machine's, with its tolerance."""
    enough = TIMES * waits + PLUS * float(log.need.mean()) >= log.delay.mean()
    return float(1 + enough.sum()) / (len(waits) + 1)


def returns(log: RequestLog, servers: int, end: float) -> tuple[float, float]:
    """Returns (seconds from the end of a burst until no more wait than there are servers, drain time Q / (c - lambda)).

    Q is the work that waits then (server-seconds) and lambda the work that comes each second
    after it.  Infinite where work does not return in the window, or comes faster than it can be served; NaN where
    nothing waits.
    """
    times, present = backlog(log)
    at = int(np.searchsorted(times, end, side="right")) - 1
    level = int(present[at]) if at >= 0 else 0
    if level <= servers:
        return math.nan, math.nan
    calm = np.flatnonzero(present[at:] <= servers)
    quiet = float(times[at + calm[0]]) - end if len(calm) else math.inf
    waiting = (level - servers) * float(log.need.mean())
    after = log.arrival > end
    rest = log.until - end
    load = float(log.need[after].sum()) / rest if rest > 0 else math.inf
    return quiet, waiting / (servers - load) if load < servers else math.inf


def backlog(log: RequestLog) -> tuple[Floats, Floats]:
    """Returns the times of arrivals and ends, and how many requests are present after each."""
    ends = log.arrival + log.sojourn
    times = np.concatenate([ends, log.arrival])
    steps = np.concatenate([-np.ones(len(ends)), np.ones(len(ends))])
    order = np.argsort(times, kind="stable")  # at one time, those that leave leave first
    return times[order], np.cumsum(steps[order])


def _reasons(log: RequestLog, attempts: float, quiet: float, drain: float, wave: Estimate | None) -> list[str]:
    reasons = []
    if wave is not None and wave.low > MOST_WPI:
        reasons.append(f"it propagates: WPI at least {wave.low:.2g}")
    if "attempts" not in log.lacks and attempts > MOST_ATTEMPTS:
        reasons.append(f"it amplifies: {attempts:.3g} attempts for each request")
    if math.isfinite(drain) and quiet > MOST_DRAIN * drain:
        after = f"quiet {quiet:.3g} s after the burst" if math.isfinite(quiet) else "not quiet within the window"
        reasons.append(f"it does not return: {after}, {drain:.3g} s would drain it")
    return reasons


def _unknown(log: RequestLog, burst: ArrivalBurst | None, wave: Estimate | None) -> str:
    """Renders what step 2 could not look at."""
    lacks = ["attempts of each request"] if "attempts" in log.lacks else []
    lacks += ["the return to quiet after a burst"] if burst is None else []
    lacks += ["the wave propagation index"] if wave is None else []
    return f" (not looked at: {', '.join(lacks)})" if lacks else ""
