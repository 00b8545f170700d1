"""Reads numbers from one run: (of, what, unit) -> number."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coherence.base.units import Dimension
from coherence.model.model import Model, unit_of
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.exact import Instant
from coherence.simulate.requests.program import Program

if TYPE_CHECKING:
    from coherence.simulate.jobs.record import JobRun
    from coherence.simulate.requests.engine import RequestResult
    from coherence.simulate.serving.engine import Served
    from coherence.simulate.study.setting import Setting

Key = tuple[str, str, str]
Sample = Mapping[Key, float]
Rows = Iterator[tuple[Key, float]]
QUANTILES = (50, 95, 99)
LAST = 0.1  # of the time: what it comes to in the end


def of_signals(model: Model, instants: Sequence[Instant], setting: Setting) -> Rows:
    """Mean over time, extremes and last value of every state and command, in SI."""
    shown = [i for i in instants if i.time >= setting.warmup] or list(instants[-1:])
    ends = [*(float(i.time) for i in shown[1:]), setting.until]
    for path in (*model.states, *model.commands):
        if not shown or path not in shown[0].after:
            continue
        values = [float(plain(i.after[path])) for i in shown]
        spans = [end - float(i.time) for i, end in zip(shown, ends, strict=True)]
        total = sum(spans)
        unit = unit_text(unit_of(model, path))
        mean = sum(v * s for v, s in zip(values, spans, strict=True)) / total if total else values[-1]
        for what, number in (("mean", mean), ("least", min(values)), ("most", max(values)), ("last", values[-1])):
            yield (path, what, unit), number


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


def of_engine(name: str, served: Served, blocks: int, setting: Setting) -> Rows:
    """Returns what the users of an inference server saw, and how full its memory was."""
    import numpy as np

    mine = (served.load.arrival >= setting.warmup) & ~served.rejected
    done = mine & np.isfinite(served.last_token)
    yield (name, "requests", "/s"), float(mine.sum()) / (setting.until - setting.warmup)
    yield (name, "refused (too long)", "req"), float(served.rejected.sum())
    for what, times in (("wait", served.wait), ("first token", served.ttft), ("whole answer", served.latency)):
        for q in QUANTILES if done.any() else ():
            yield (name, f"{what} P{q}", "s"), float(np.quantile(times[done], q / 100, method="inverted_cdf"))
    shown = served.series["time"] >= setting.warmup
    for what, column in (("running", "running"), ("waiting", "waiting")):
        if shown.any():
            yield (name, what, "req"), float(served.series[column][shown].mean())
    if shown.any():
        yield (name, "cache in use", "%"), 100.0 * float(served.series["blocks"][shown].mean()) / blocks
    yield (name, "put back", "req"), float(served.preemptions[mine].sum())
    written = float(served.written[mine].sum())
    again = float(served.recomputed[mine].sum())
    yield (name, "tokens computed again for each written", ""), again / written if written else 0.0


def of_requests(program: Program, result: RequestResult, setting: Setting) -> Rows:
    """Returns what users and servers saw."""
    for index, source in enumerate(program.sources):
        yield from _of_source(index, source.name, result, setting)
    for route in program.routes:
        yield from _of_route(route.name, result)
    for station in program.stations:
        yield from _of_station(station.name, result, setting)


OF_WHOM = (
    "succeed is of the requests that ended; P50 to P99 are of those that succeed, with those that have not ended as "
    "the longest: a percentile that lies among them is not told"
)


def quantile_place(percent: int, ended: int, waiting: int) -> int | None:
    """Returns where a percentile stands among the sorted times of those that ended, counted from 0.

    Those that still wait take longer than all of them; None where the percentile is one of theirs.
    """
    place = -(-percent * (ended + waiting) // 100) - 1
    return max(place, 0) if place < ended else None


def _of_source(index: int, name: str, result: RequestResult, setting: Setting) -> Rows:
    import numpy as np

    done: Any = result.requests
    mine = (done.source == index) & (done.start >= setting.warmup)
    good = mine & (done.outcome == 0)
    finished = int(mine.sum())
    came = result.counters[f"{name}.arrivals"]
    waiting = max(0, came - finished)
    yield (name, "arrive", "/s"), came / (setting.until - setting.warmup)
    yield (name, "not ended", "%"), 100.0 * waiting / came if came else 0.0
    if not finished:
        return
    yield (name, "succeed", "%"), 100.0 * int(good.sum()) / finished
    end = mine & (done.end >= setting.until * (1 - LAST))
    if int(end.sum()):
        yield (name, "succeed in the last tenth", "%"), 100.0 * int((good & end).sum()) / int(end.sum())
    if int(good.sum()):
        times = np.sort((done.end - done.start)[good])
        for q in QUANTILES:
            place = quantile_place(q, len(times), waiting)
            if place is not None:
                yield (name, f"P{q}", "s"), float(times[place])


def _of_route(name: str, result: RequestResult) -> Rows:
    tries, again = (
        result.counters[f"{name}.tries"],
        sum(result.counters[f"{name}.{of}"] for of in ("retries", "hedges")),
    )
    if tries > again:
        yield (name, "sends per call", ""), tries / (tries - again)
        yield (name, "time out", "%"), 100.0 * result.counters[f"{name}.timeouts"] / tries


def _of_station(name: str, result: RequestResult, setting: Setting) -> Rows:
    series = result.series
    shown = series["time"] >= setting.warmup
    queue, busy, servers = (series[f"{name}.{word}"][shown] for word in ("queue", "busy", "servers"))
    if not len(queue):
        return
    total = float(servers.sum())
    yield (name, "servers", ""), float(servers.mean())
    yield (name, "busy", "%"), 100.0 * float(busy.sum()) / total if total else 0.0
    yield (name, "waiting", "req"), float(queue.mean())
    yield (name, "waiting in the end", "req"), float(queue[-1])
    served = result.counters[f"{name}.served"]
    if served:
        yield (name, "served in vain", "%"), 100.0 * result.counters[f"{name}.wasted"] / served
