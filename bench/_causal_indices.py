"""Indices of coordination: nulls, falsifiers, the separation of two clusters, coverage, the rule of queueing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bench._clusters import BASE, COORD, Cluster, Work, run
from bench.harness import Row
from coherence.causal.answers.intervals import Estimate
from coherence.causal.data.index_inputs import BATCHES, IndexInputs
from coherence.causal.data.request_log import RequestLog, request_log
from coherence.causal.indices import MeasuredIndex, control, delay, measured_indices
from coherence.causal.twins.coordinated_twin import Twin, starts
from coherence.causal.twins.inversion import solve_rising
from coherence.causal.twins.queueing import INSTABILITY, LEGITIMATE, LOCAL, QueueingDecision, decide

Floats = npt.NDArray[np.float64]
SEEDS, RUNS, SECONDS = 8, 30, 1800.0
FRESH = 31  # the first seed that took no part in the choice of the two clusters
LOADS = (0.3, 0.5, 0.7, 0.8, 0.9)
NAMES = ("CI", "DI", "WPI", "HCL")


def rows() -> list[Row]:
    """All of them: a few minutes."""
    return [*nulls(), *separation(), *covered(), *rule(), *tubes()]


# -- systems with a known answer ------------------------------------------------------------------


def bursty(rng: np.random.Generator, rate: float, until: float, *, bursts: bool, times: float = 2.0) -> Floats:
    """Poisson arrivals of a mean rate, `times` as fast for a tenth of the time if there are bursts."""
    if not bursts:
        return np.sort(rng.uniform(0, until, rng.poisson(rate * until)))
    quiet = rate / (0.9 + 0.1 * times)
    came = np.sort(rng.uniform(0, until, rng.poisson(quiet * times * until)))
    fast = (came % 100) >= 90
    return came[fast | (rng.random(len(came)) < 1 / times)]


def overhead(load: float, share: float, *, bursts: bool, seed: int, until: float = 1200.0) -> RequestLog:
    """One pool of 20 servers, first come first served, where each service takes `share` longer than its need."""
    rng, servers, need = np.random.default_rng(seed), 20, 0.1
    came = bursty(rng, load * servers / need, until, bursts=bursts)
    needs = rng.gamma(8.0, need / 8.0, len(came))
    took = needs * (1 + share)
    return request_log(came, needs, starts(came, took, servers) + took, completed=np.ones(len(came), bool),
                       deadline=0.25, held=took, service=rng.choice(["a", "b"], len(came)))  # fmt: skip


def disjoint(seed: int, *, until: float = 300.0, servers: int = 8) -> RequestLog:
    """Two services, each with servers and bursts of its own, and an overhead that opens the gate of the waves."""
    rng, parts = np.random.default_rng(seed), []
    for shift in (0.0, 50.0):
        came = np.sort((bursty(rng, 0.6 * servers / 0.1, until, bursts=True, times=2.5) + shift) % until)
        needs = rng.exponential(0.1, len(came))
        took = 1.4 * needs
        parts.append((came, needs, starts(came, took, servers) + took))
    came, needs, ends = (np.concatenate(column) for column in zip(*parts, strict=True))
    names = np.repeat(["a", "b"], [len(parts[0][0]), len(parts[1][0])])
    return request_log(came, needs, ends, completed=np.ones(len(came), bool), service=names)


def estimates(facts: IndexInputs, names: Iterable[str] = NAMES) -> dict[str, MeasuredIndex]:
    """Those indices that these facts give."""
    return {one.index.name: one for one in measured_indices(facts, names) if isinstance(one, MeasuredIndex)}


def nulls(*, seeds: int = 100, until: float = 1200.0) -> Iterator[Row]:
    """An overhead of 5.5 % at every load; disjoint resources."""
    found = [
        estimates(IndexInputs(overhead(load, 0.055, bursts=bursts, seed=seed, until=until), servers=20), ("DI", "CI"))
        for seed, load in enumerate(LOADS)
        for bursts in (False, True)
    ]
    worst = max(abs(one["DI"].estimate.value - 0.055) for one in found)
    yield Row("overhead of 5.5 % at five loads with and without bursts: DI off by", worst, "<= 0.001", "", "0.055")
    binding = [one["CI"].estimate.value for one in found if one["CI"].parts[0].estimate.value < 0.95]
    off = max((abs(one - 1 / 1.055) for one in binding), default=0.0)
    yield Row(f"the same where deadlines bind ({len(binding)} of 10): CI off by", off, "<= 0.002", "", "1/1.055")
    waves = [estimates(IndexInputs(disjoint(seed), servers=16), ("WPI",))["WPI"] for seed in range(seeds)]
    false = sum(one.estimate.low > 0 for one in waves) / seeds
    yield Row(f"disjoint resources, {seeds} runs: share whose WPI is surely above 0", false, "<= 0.05", "", "")


# -- two clusters ---------------------------------------------------------------------------------


def facts_of(cluster: Cluster, log: RequestLog) -> IndexInputs:
    """What an index may know of a run."""
    return IndexInputs(log, servers=cluster.entitled, latency_class="requests", provisioned=cluster.slots)


def separation(*, seeds: int = SEEDS, until: float = SECONDS) -> Iterator[Row]:
    """Each index of the two clusters on the same work: on every seed, and without overlap."""
    found: dict[str, dict[str, list[float]]] = {}
    for name, cluster in (("base", BASE), ("coordinated", COORD)):
        for seed in range(FRESH, FRESH + seeds):
            log = run(cluster, Work(), seed=seed, until=until)
            for index, value in values_of(facts_of(cluster, log), least=cluster is BASE).items():
                found.setdefault(index, {}).setdefault(name, []).append(value)
    for index, values in found.items():
        base, after = np.array(values["base"]), np.array(values["coordinated"])
        better = after > base if index == "CI" else after < base
        apart = base.max() < after.min() if index == "CI" else after.max() < base.min()
        peer = f"{_spread(base)} to {_spread(after)}{'' if apart else ', ranges overlap'}"
        yield Row(f"{index} separates the clusters on seeds, of {seeds}", int(better.sum()), f">= {seeds}", "", peer)


def values_of(facts: IndexInputs, *, least: bool = False) -> dict[str, float]:
    """The four indices; of one that is only bounded the bound, or 0 where it is one from above and the least counts.

    Of one that is refused the worst for a comparison: 0 where the least counts, else infinity.
    """
    delays = delay.measure(facts, variants=False)
    assert isinstance(delays, MeasuredIndex)
    rest = estimates(facts, [name for name in NAMES if name != "DI"])
    found = {**rest, "DI": delays}
    worst = 0.0 if least else float("inf")
    return {
        name: worst if name not in found or (least and found[name].bound == "<=") else found[name].estimate.value
        for name in NAMES
    }


def served(log: RequestLog, cluster: Cluster, until: float) -> dict[str, float]:
    """What an operator reads: percentiles of the answered tries (ms), longest queue wait of a try (s), shares."""
    requests = log.of_class("requests")
    done, (sent, begun) = requests.completed, (layer.left for layer in requests.layers[:2])
    p50, p95, p99 = np.percentile(1000 * (requests.end - sent)[done], [50, 95, 99])
    useful = (log.need * log.devices)[log.completed].sum()
    return {
        "P50": p50, "P95": p95, "P99": p99, "longest wait": float(np.nanmax(begun - sent)),
        "timeouts": 1 - done.mean(), "in 0.4 s": requests.in_time.mean(),
        "nominal": log.held.sum() / (cluster.slots * until), "effective": useful / (cluster.slots * until),
    }  # fmt: skip


def _spread(values: Floats) -> str:
    return f"{values.mean():.3f} ({values.min():.3f} to {values.max():.3f})"


def scaled() -> float:
    """Largest change of any index when all times are ten times as long."""
    log = run(COORD, Work(), seed=1, until=300.0)
    one, ten = values_of(facts_of(COORD, log)), values_of(facts_of(COORD, log.scaled(10.0)))
    return max(abs(one[name] - ten[name]) for name in one)


SHORT = replace(Work(), lasts=2.2, between=14.3)  # as much work in more and shorter bursts
RARE = replace(Work(), lasts=12.0, between=78.0)  # as much work in longer bursts: a window holds few coincidences


def covered(*, runs: int = RUNS, until: float = SECONDS) -> Iterator[Row]:
    """How often the interval of DI, where one is told, holds the truth: that of all runs together."""
    for name, cluster, work in (("base", BASE, Work()), ("coordinated, short bursts", COORD, SHORT)):
        told, truth = told_of(cluster, work, runs=runs, until=until)
        known = [one for one in told if np.isfinite(one.high)]
        inside = sum(truth in one for one in known) / max(len(known), 1)
        width = np.mean([one.high - one.low for one in known])
        have = f"{len(known)} of {runs} windows of {until / 60:g} min have one"
        peer = f"truth {truth:.3f}, mean width {width:.3f}, {have}"
        yield Row(f"coverage of DI, {name}", inside, ">= 0.93", "", peer)
    few = max(runs // 3, 1)
    told, truth = told_of(COORD, RARE, runs=few, until=until)
    wrong = [one for one in told if np.isfinite(one.high) and truth not in one]
    kept = sum(bool(np.isfinite(one.high)) for one in told)
    what = "bursts of 12 s that rarely coincide, coordinated: share of windows with a wrong interval of DI"
    yield Row(what, len(wrong) / few, "<= 0.07", "", f"{few - kept} of {few} refuse an interval")
    yield Row("all times ten times as long: largest change of an index", scaled(), "<= 0.001", "", "")


def told_of(
    cluster: Cluster, work: Work, *, runs: int, until: float, batches: int = BATCHES, first: int = 1000
) -> tuple[list[Estimate], float]:
    """DI of each run, and of all together."""
    logs = [run(cluster, work, seed=first + seed, until=until).of_class("requests") for seed in range(runs)]
    facts = [IndexInputs(log, servers=cluster.entitled, batches=batches) for log in logs]
    told = [delay.measure(each, variants=False) for each in facts]
    return [one.estimate for one in told if isinstance(one, MeasuredIndex)], pooled(logs, cluster.entitled)


def pooled(logs: list[RequestLog], servers: int) -> float:
    """DI of several windows together."""
    twins = [Twin(log.arrival, log.need, log.deadline, servers) for log in logs]
    total = sum(float(log.delay.sum()) for log in logs)
    return solve_rising(lambda gamma: sum(float(one.delays(gamma).sum()) for one in twins), total, tolerance=1e-5) - 1


# -- legitimate or not -------------------------------------------------------------------------------


def legitimate(seed: int, *, until: float = 120.0) -> RequestLog:
    """One of five harmless systems, by seed: plain, higher load, launch of 3 ms, ticks of 5 ms, dropping the late."""
    rng, servers, need, kind = np.random.default_rng(seed), 20, 0.1, seed % 5
    load = 0.9 if kind == 1 else 0.75
    came = bursty(rng, load * servers / need, until, bursts=True)
    needs = rng.gamma(4.0, need / 4.0, len(came))
    took = needs + (0.003 if kind == 2 else 0.0)
    ready = np.ceil(came / 0.005) * 0.005 if kind == 3 else came
    ends = starts(ready, took, servers) + took
    if kind == 4:
        return _dropping(came, needs, servers)
    return request_log(came, needs, ends, completed=np.ones(len(came), bool), attempts=1.0)


def _dropping(came: Floats, needs: Floats, servers: int, *, patience: float = 1.0) -> RequestLog:
    """First come first served, except that who would wait longer than so many seconds leaves then."""
    free, ends, well = [0.0] * servers, [], []
    for arrival, need in zip(came.tolist(), needs.tolist(), strict=True):
        slot = min(range(servers), key=free.__getitem__)
        start = max(arrival, free[slot])
        well.append(start - arrival <= patience)
        ends.append(start + need if well[-1] else arrival + patience)
        if well[-1]:
            free[slot] = start + need
    return request_log(came, needs, np.array(ends), completed=np.array(well), attempts=1.0)


RETRYING = replace(Cluster(), slots=22, floor=0, pool=22, switch=0.0, launch=0.003, tick=0.005, tries=2)
HEAVY = replace(Work(), rate=20.0, burst=3.0, between=60.0, lasts=15.0, gangs=0.0)


def retrying(seed: int, *, until: float = 180.0, compiled: bool = True) -> RequestLog:
    """A pool of 22 whose clients leave after 1.255 s and try again, while it serves what they left."""
    return run(RETRYING, HEAVY, seed=seed, until=until, compiled=compiled)


def rule(*, harmless: int = 200, harmful: int = 150) -> Iterator[Row]:
    """How often the rule calls harmless queueing something else, and amplifying retries by their name."""
    wrong = sum(decided(legitimate(seed), 20, seed).verdict != LEGITIMATE for seed in range(harmless))
    yield Row(f"legitimate queueing called otherwise, of {harmless}", wrong, "<= 0", "", "")
    runs = [(seed, retrying(seed)) for seed in range(harmful)]
    amplifying = [(seed, log) for seed, log in runs if log.attempts.mean() > 1.05 and forced(log) < 0.1]
    named = sum(decided(log, 22, seed).verdict == INSTABILITY for seed, log in amplifying)
    power = named / len(amplifying) if amplifying else float("nan")
    what = "retries amplify, though demand forces fewer than a tenth of them: called instability"
    yield Row(what, power, ">= 0.95", "", f"{named} of {len(amplifying)}, of {harmful} runs")
    calm = [(seed, log) for seed, log in runs if log.attempts.mean() <= 1.001]
    false = sum(decided(log, 22, seed).verdict == INSTABILITY for seed, log in calm)
    yield Row("the same design, hardly anything retried: called instability", false, "<= 0", "", f"{len(calm)} runs")

    slow = [decided(overhead(0.5, 0.8, bursts=False, seed=seed, until=120.0), 20, seed) for seed in range(40)]
    share = sum(one.verdict == LOCAL for one in slow) / len(slow)
    yield Row("an overhead of 80 % that stays where it is: called a local excess", share, ">= 0.95", "", "40 runs")


def forced(log: RequestLog) -> float:
    """Share of requests that would have waited beyond the time-out on a coordinated machine too."""
    return float((Twin(log.arrival, log.need, log.deadline, 22).delays(1.0) > RETRYING.timeout).mean())


def decided(log: RequestLog, servers: int, seed: int) -> QueueingDecision:
    """The decision for a whole window."""
    return decide(IndexInputs(log, servers=servers), seed=seed)


# -- control -------------------------------------------------------------------------------------------


def linear_programme(low: Floats, high: Floats) -> float:
    """TVmin as a linear programme: minimise sum d, d_t >= |u_t - u_{t-1}|."""
    from scipy.optimize import linprog
    from scipy.sparse import diags, hstack, vstack

    size = len(low)
    steps = diags([-np.ones(size - 1), np.ones(size - 1)], [0, 1], shape=(size - 1, size))
    eye = diags([np.ones(size - 1)], [0])
    rows_ = vstack([hstack([steps, -eye]), hstack([-steps, -eye])])
    bounds = [*zip(low, high, strict=True), *[(0, None)] * (size - 1)]
    cost = np.concatenate([np.zeros(size), np.ones(size - 1)])
    return float(linprog(cost, A_ub=rows_, b_ub=np.zeros(2 * size - 2), bounds=bounds, method="highs").fun)


def tubes(*, cases: int = 40) -> Iterator[Row]:
    """The least variation in a tube against a linear programme."""
    worst = 0.0
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        middle = np.cumsum(rng.normal(size=80))
        low, high = middle - rng.exponential(1.0, 80), middle + rng.exponential(1.0, 80)
        worst = max(worst, abs(control.least_variation(low, high) - linear_programme(low, high)))
    yield Row(f"least variation in {cases} random tubes against a linear programme", worst, "<= 1e-9", "", "HiGHS")
