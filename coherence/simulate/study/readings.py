"""Reads numbers from one run: (of, what, unit) -> number."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from coherence.base.units import Dimension
from coherence.model.model import Model, unit_of
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.exact import Instant
from coherence.simulate.requests.program import Program

if TYPE_CHECKING:
    from coherence.simulate.jobs.record import JobRun
    from coherence.simulate.requests.engine import RequestResult
    from coherence.simulate.serving.engine import Served
    from coherence.simulate.study.latencies import Latencies
    from coherence.simulate.study.setting import Setting

Key = tuple[str, str, str]
Sample = Mapping[Key, float]
Rows = Iterator[tuple[Key, float]]
QUANTILES = (50, 95, 99)
LAST = 0.1  # of the time: what it comes to in the end
SUCCEED = "succeed"
LATE = f"{SUCCEED} in the last tenth"


def of_signals(model: Model, instants: Sequence[Instant], setting: Setting) -> Rows:
    """Mean over time, extremes and last value of every state and command from the warm-up to the end, in SI.

    Between instants what flows moves in a straight line and all else stands still.
    """
    first = next((n for n, instant in enumerate(instants) if instant.time > setting.warmup), len(instants)) - 1
    shown = instants[max(first, 0) :]  # the first holds at the warm-up
    for path in (*model.states, *model.commands):
        if not shown or path not in shown[0].after:
            continue
        flows = path in model.states and model.states[path].flow is not None
        pieces = [piece for piece in _pieces(path, shown, setting, flows=flows) if piece.end >= setting.warmup]
        values = [value for piece in pieces for value in (piece.first, piece.last)]
        total = sum(piece.end - piece.begin for piece in pieces)
        area = sum((piece.first + piece.last) / 2 * (piece.end - piece.begin) for piece in pieces)
        mean, unit = area / total if total else values[-1], unit_text(unit_of(model, path))
        for what, number in (("mean", mean), ("least", min(values)), ("most", max(values)), ("last", values[-1])):
            yield (path, what, unit), number


class _Piece(NamedTuple):
    begin: float  # s
    end: float
    first: float
    last: float


def _pieces(path: str, shown: Sequence[Instant], setting: Setting, *, flows: bool) -> Iterator[_Piece]:
    """Yields the values of a signal from instant to instant, cut at the warm-up."""
    for number, instant in enumerate(shown):
        following = shown[number + 1] if number + 1 < len(shown) else None
        begin, first = float(instant.time), float(plain(instant.after[path]))
        end = float(following.time) if following is not None else max(begin, setting.until)
        last = float(plain(following.sampled[path])) if following is not None and flows else first
        if begin < setting.warmup < end:
            first += (last - first) * (setting.warmup - begin) / (end - begin)
            begin = setting.warmup
        yield _Piece(begin, end, first, last)


def unit_text(dimension: Dimension) -> str:
    """Returns a dimension as the text of a unit: `req/s`."""
    above = "*".join(base if power == 1 else f"{base}^{power}" for base, power in dimension.powers if power > 0)
    below = "".join(f"/{base}" if power == -1 else f"/{base}^{-power}" for base, power in dimension.powers if power < 0)
    return above + below


def of_loops(model: Model, instants: Sequence[Instant], setting: Setting) -> Rows:
    """Returns how often each loop changed something, and how often it turned round."""
    shown = [i for i in instants if i.time >= setting.warmup]
    for loop in model.loops:
        if loop.relay:
            yield (loop.name, "switches on", ""), float(sum((loop.name, True) in i.switched for i in shown))
        if not loop.signal:
            continue
        actions = [a for i in shown for a in i.actions if a.loop == loop.name]
        rising = [a.after > a.before for a in actions]
        turns = sum(one is not other for one, other in itertools.pairwise(rising))
        yield (loop.name, "writes", ""), float(len(actions))
        yield (loop.name, "reversals", ""), float(turns)


def of_job(run: JobRun) -> Rows:
    """Returns where the time of a job went, its pace and what interrupted it."""
    from coherence.simulate.jobs.ledger import kept_steps, ledger

    account, name = ledger(run), run.job.name
    hours = float(account.total) / account.ranks / 3600
    if hours:
        yield (name, "steps that lasted", "/h"), float(kept_steps(run).sum()) / hours
    for state in account.counts:
        yield (name, state, "%"), 100.0 * account.share(state)
    yield (name, "losses", ""), float(len(run.losses))


def of_engine(
    name: str, served: Served, times: Mapping[tuple[str, str], Latencies], blocks: int, setting: Setting
) -> Rows:  # fmt: skip
    """Returns what the users of an inference server saw, and how full its memory was."""
    mine = (served.load.arrival >= setting.warmup) & (served.load.arrival <= setting.until) & ~served.rejected
    yield (name, "requests", "/s"), float(mine.sum()) / (setting.until - setting.warmup)
    yield (name, "refused (too long)", "req"), float(served.rejected.sum())
    for (_, kind), latencies in times.items():
        for percent in QUANTILES if latencies.arrived.sum() else ():
            quantile = quantile_of(latencies, percent)
            if quantile is not None:
                yield (name, f"{kind} P{percent}", "s"), quantile
    shown = (served.series["time"] >= setting.warmup) & (served.series["time"] <= setting.until)
    for what, column in (("running", "running"), ("waiting", "waiting")):
        if shown.any():
            yield (name, what, "req"), float(served.series[column][shown].mean())
    if shown.any():
        yield (name, "cache in use", "%"), 100.0 * float(served.series["blocks"][shown].mean()) / blocks
    yield (name, "put back", "req"), float(served.preemptions[mine].sum())
    written = float(served.written[mine].sum())
    again = float(served.recomputed[mine].sum())
    yield (name, "tokens computed again for each written", ""), again / written if written else 0.0


def of_requests(program: Program, result: RequestResult, latencies: Mapping[str, Latencies], setting: Setting) -> Rows:
    """Returns what users and servers saw."""
    for source in program.sources:
        yield from _of_source(source.name, latencies[source.name], result, setting)
    for route in program.routes:
        yield from _of_route(route.name, result, breaks=route.opening is not None)
    for station in program.stations:
        yield from _of_station(station.name, result, setting, restarts=station.restarts is not None)


OF_WHOM = (
    "succeed and P50 to P99 are of all requests that arrive: those that fail or have not ended are longer than every "
    "answer, and a percentile that lies among them is more than what is known; mean is of those that are answered, and "
    "what succeeds in the last tenth of those that end in it"
)


def quantile_of(latencies: Latencies, percent: int) -> float | None:
    """Returns a percentile of all that arrived in one run (s); None where it lies among those without an answer."""
    import numpy as np

    within = latencies.counts.sum(axis=0).cumsum()
    place = int(np.searchsorted(within, max(1, -(-percent * int(latencies.arrived.sum()) // 100))))
    if place == len(within):
        return None
    return float(latencies.bin_sums[place] / latencies.counts[:, place].sum())


def _of_source(name: str, latencies: Latencies, result: RequestResult, setting: Setting) -> Rows:
    came, answered = int(latencies.arrived.sum()), int(latencies.counts.sum())
    waiting = came - latencies.ended
    yield (name, "arrive", "/s"), came / (setting.until - setting.warmup)
    yield (name, "not ended", "%"), 100.0 * waiting / came if came else 0.0
    if not came:
        return
    yield (name, SUCCEED, "%"), 100.0 * answered / came
    late = _late(name, result, setting)
    if late is not None:
        yield (name, LATE, "%"), 100.0 * late
    if answered:
        yield (name, "mean", "s"), float(latencies.sums.sum()) / answered
    for percent in QUANTILES:
        quantile = quantile_of(latencies, percent)
        if quantile is not None:
            yield (name, f"P{percent}", "s"), quantile


def _late(name: str, result: RequestResult, setting: Setting) -> float | None:
    """Returns which share of the requests that ended in the last tenth of a run were answered; None without any."""
    series = result.series
    rows = series["time"] >= setting.until * (1 - LAST)
    ends = [series[f"{name}.{count}"][rows] for count in ("completed", "failed")]
    if not rows.any():
        return None
    good, bad = (int(count[-1] - count[0]) for count in ends)
    return good / (good + bad) if good + bad else None


def _of_route(name: str, result: RequestResult, *, breaks: bool) -> Rows:
    tries, again = (
        result.counters[f"{name}.tries"],
        sum(result.counters[f"{name}.{of}"] for of in ("retries", "hedges")),
    )
    if tries > again:
        yield (name, "sends per call", ""), tries / (tries - again)
        yield (name, "time out", "%"), min(100.0, 100.0 * result.counters[f"{name}.timeouts"] / tries)
        if breaks:
            yield (name, "fail at the open breaker", "%"), 100.0 * result.counters[f"{name}.broken"] / tries


def _of_station(name: str, result: RequestResult, setting: Setting, *, restarts: bool) -> Rows:
    series = result.series
    shown = series["time"] >= setting.warmup
    queue, servers = (series[f"{name}.{word}"][shown] for word in ("queue", "servers"))
    if not len(queue):
        return
    time = result.end - result.start
    total = float(servers.mean()) * time
    yield (name, "servers", ""), float(servers.mean())
    yield (name, "busy", "%"), min(100.0, 100.0 * result.work[f"{name}.busy_seconds"] / total) if total else 0.0
    yield (name, "waiting", "req"), result.work[f"{name}.queue_seconds"] / time if time else 0.0
    yield (name, "waiting in the end", "req"), float(queue[-1])
    served = result.counters[f"{name}.served"]
    if served:
        yield (name, "served in vain", "%"), 100.0 * result.counters[f"{name}.wasted"] / served
    if restarts and time:
        begun, lost = result.counters[f"{name}.restarts"], result.counters[f"{name}.lost"]
        yield (name, "members begin anew", "/h"), 3600.0 * begun / time
        yield (name, "lost in it", "%"), 100.0 * lost / (served + lost) if served + lost else 0.0
