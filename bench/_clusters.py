"""A small cluster, uncoordinated and coordinated: four services with bursts beside gangs of batch on 64 slots.

Uncoordinated: one queue for all; a gang at its head gathers free slots one by one and holds them; slots switch between
classes at a cost; clients leave after a time-out that the server does not know, try once more, and what they left
is served all the same.  Coordinated: requests have slots of their own, each service at most a share of them; gangs
start whole; slots of the same class are taken first; what has expired is dropped.  Both act at ticks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coherence.causal.data.request_log import RequestLog, request_log
from coherence.simulate.requests.compiled import entry

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
SERVICES = 4


@dataclass(frozen=True, slots=True)
class Cluster:
    """What it has and how it acts; seconds.  `pool`: slots of requests alone (0: all are shared)."""

    slots: int = 64
    floor: int = 38  # slots that batch may always have; the others are what requests are entitled to
    pool: int = 0
    cap: int = 64  # slots of one service
    tick: float = 0.030
    launch: float = 0.004
    switch: float = 0.020
    affine: bool = False  # slots of the same class first
    atomic: bool = False  # gangs start whole
    drops: bool = False  # what has expired is not served
    timeout: float = 1.255
    tries: int = 2

    @property
    def entitled(self) -> int:
        """Slots that requests may claim."""
        return self.slots - self.floor


@dataclass(frozen=True, slots=True)
class Work:
    """What comes: requests of each service, with bursts of their own, and gangs.  Seconds, rates per second."""

    rate: float = 16.0  # of one service outside bursts
    burst: float = 4.4  # times the rate
    lasts: float = 6.6
    between: float = 43.0
    need: float = 0.120
    spread: float = 0.35  # coefficient of variation of needs
    gangs: float = 0.86
    size: int = 8
    takes: float = 4.0


BASE = Cluster()
COORD = replace(BASE, pool=26, cap=10, tick=0.015, affine=True, atomic=True, drops=True)


def bursts(work: Work, until: float, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Beginnings and ends, exponential apart."""
    found, time = [], rng.exponential(work.between)
    while time < until:
        found.append((time, min(until, time + rng.uniform(0.5, 1.5) * work.lasts)))
        time = found[-1][1] + rng.exponential(work.between)
    return found


def arrivals(work: Work, until: float, rng: np.random.Generator) -> tuple[Floats, list[tuple[float, float]]]:
    """Poisson, faster in bursts: by thinning the fastest."""
    told = bursts(work, until, rng)
    fastest = work.rate * work.burst
    times = np.sort(rng.uniform(0, until, rng.poisson(fastest * until)))
    inside = np.zeros(len(times), bool)
    for low, high in told:
        inside |= (times >= low) & (times < high)
    return times[inside | (rng.random(len(times)) < 1 / work.burst)], told


def run(cluster: Cluster, work: Work, *, seed: int, until: float, compiled: bool = True) -> RequestLog:
    """All requests and gangs that came until a time (s), each followed to its end.

    Not compiled, a few minutes take a second, and no half minute passes before the first of them.
    """
    rng = np.random.default_rng(seed)
    streams = [arrivals(work, until, rng)[0] for _ in range(SERVICES)]
    came = np.concatenate(streams)
    order = np.argsort(came, kind="stable")
    came, service = came[order], np.repeat(np.arange(SERVICES), [len(one) for one in streams])[order]
    shape = 1 / work.spread**2
    needs = rng.gamma(shape, work.need / shape, len(came))
    gangs = np.sort(rng.uniform(0, until, rng.poisson(work.gangs * until)))
    lengths = rng.gamma(4.0, work.takes / 4.0, len(gangs))
    c = cluster
    limits = np.array([c.slots, c.pool, c.cap, c.affine, c.atomic, c.drops, c.tries, work.size], np.int64)
    times = np.array([c.tick, c.launch, c.switch, c.timeout, until + 60.0])
    loop = advance if compiled else getattr(advance, "py_func", advance)
    served = loop(came, needs, service, gangs, lengths, limits, times)
    return _log(came, needs, service, gangs, lengths, served, cluster, work)


def _log(  # noqa: PLR0913, PLR0917  (columns)
    came: Floats, needs: Floats, service: Ints, gangs: Floats, lengths: Floats, served: tuple[Any, ...],
    cluster: Cluster, work: Work,
) -> RequestLog:  # fmt: skip
    end, attempts, sent, begun, held, gang_end, gang_held = served
    gave_up = np.isnan(end)
    ends = np.where(gave_up, came + attempts * cluster.timeout, end)
    late = np.isnan(begun) | (begun > ends)
    none = np.full(len(gangs), np.nan)
    return request_log(
        np.concatenate([came, gangs]),
        np.concatenate([needs, lengths]),
        np.concatenate([ends, gang_end]),
        completed=np.concatenate([~gave_up, ~np.isnan(gang_end)]),
        deadline=np.concatenate([np.full(len(came), 0.4), np.full(len(gangs), np.inf)]),
        attempts=np.concatenate([attempts, np.ones(len(gangs))]),
        work_class=np.array(["requests"] * len(came) + ["batch"] * len(gangs)),
        service=np.array([f"service {one + 1}" for one in service] + ["batch"] * len(gangs)),
        devices=np.concatenate([np.ones(len(came)), np.full(len(gangs), work.size)]),
        held=np.concatenate([held, gang_held]),
        layers={
            "earlier tries": (np.concatenate([sent, none]), None),
            "dispatch": (np.concatenate([np.where(late, np.nan, begun), none]), None),
            "execution": (np.concatenate([np.where(gave_up, np.nan, end), none]), None),
        },
    )


@entry
def advance(  # noqa: PLR0912, PLR0915  (one loop: compiled functions share no values)
    came: Floats, needs: Floats, service: Ints, gangs: Floats, lengths: Floats, limits: Ints, times: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats]:  # fmt: skip
    """Ticks until the last time: (end, attempts, last sent, begun, held) of requests, (end, held) of gangs."""
    slots, pool, cap, affine, atomic, drops, tries, size = limits
    tick, launch, switch, timeout, last = times
    count, jobs = len(came), len(gangs)
    end, attempts, sent = np.full(count, np.nan), np.ones(count), came.copy()
    begun, held = np.full(count, np.nan), np.zeros(count)
    gang_end, gang_held = np.full(jobs, np.nan), np.zeros(jobs)
    free_at, kind, since = np.zeros(slots), np.full(slots, -1), np.full(slots, -1.0)
    until_of, busy = np.full(slots, -1), np.zeros(5, np.int64)  # which class a slot serves now, and how many do
    queue, at = np.zeros((4, count * 2 + 1), np.int64), np.zeros((4, count * 2 + 1))
    heads, tails = np.zeros(4, np.int64), np.zeros(4, np.int64)
    arrival, retry, gang, gathered = 0, 0, 0, 0
    ticks = int(last / tick)
    for step in range(1, ticks + 1):
        now = step * tick
        while True:  # what came since the last tick, in order of time
            first = came[arrival] if arrival < count else np.inf
            again = came[retry] + timeout if retry < count else np.inf
            if min(first, again) > now:
                break
            if first <= again:
                line = service[arrival]
                queue[line, tails[line]], at[line, tails[line]] = arrival, first
                tails[line] += 1
                arrival += 1
            else:
                if np.isnan(end[retry]) and tries > 1:
                    line = service[retry]
                    queue[line, tails[line]], at[line, tails[line]] = retry, again
                    tails[line] += 1
                    attempts[retry], sent[retry], begun[retry] = 2.0, again, np.nan
                retry += 1
        for slot in range(slots):
            if until_of[slot] >= 0 and free_at[slot] <= now:
                busy[until_of[slot]] -= 1
                until_of[slot] = -1
        while True:  # dispatch: the oldest of those that may go
            best, oldest = -1, np.inf
            for line in range(4):
                if drops:
                    while heads[line] < tails[line] and at[line, heads[line]] + timeout <= now:
                        heads[line] += 1
                if heads[line] < tails[line] and busy[line] < cap and at[line, heads[line]] < oldest:
                    best, oldest = line, at[line, heads[line]]
            if gang < jobs and gangs[gang] <= now and pool == 0 and (gathered > 0 or gangs[gang] < oldest):
                best = 4
            if best < 0:
                break
            if best == 4:
                if atomic:
                    spare = 0
                    for slot in range(slots):
                        if until_of[slot] < 0:
                            spare += 1
                    if spare < size:
                        break
                for slot in range(slots):
                    if until_of[slot] < 0 and gathered < size:
                        until_of[slot], free_at[slot], since[slot] = 4, np.inf, now
                        busy[4] += 1
                        gathered += 1
                if gathered < size:
                    break
                for slot in range(slots):
                    if until_of[slot] == 4 and free_at[slot] == np.inf:
                        free_at[slot] = now + launch + (0.0 if kind[slot] == 4 else switch) + lengths[gang]
                        kind[slot] = 4
                        gang_held[gang] += free_at[slot] - since[slot]
                        gang_end[gang] = (
                            free_at[slot] if np.isnan(gang_end[gang]) else max(gang_end[gang], free_at[slot])
                        )
                gathered = 0
                gang += 1
                continue
            found = -1
            for slot in range(pool if pool > 0 else slots):
                if until_of[slot] < 0:
                    if found < 0:
                        found = slot
                    if not affine or kind[slot] == best:
                        found = slot
                        break
            if found < 0:
                break
            request = queue[best, heads[best]]
            heads[best] += 1
            done = now + launch + (0.0 if kind[found] == best else switch) + needs[request]
            kind[found], until_of[found], free_at[found] = best, best, done
            busy[best] += 1
            held[request] += done - now
            if oldest == sent[request]:
                begun[request] = now
                if done <= oldest + timeout:
                    end[request] = done
        while pool > 0 and gang < jobs and gangs[gang] <= now:  # batch has slots of its own, and gangs start whole
            spare = 0
            for slot in range(pool, slots):
                if until_of[slot] < 0:
                    spare += 1
            if spare < size:
                break
            taken = 0
            for slot in range(pool, slots):
                if until_of[slot] < 0 and taken < size:
                    until_of[slot], free_at[slot] = (
                        4,
                        now + launch + (0.0 if kind[slot] == 4 else switch) + lengths[gang],
                    )
                    kind[slot] = 4
                    busy[4] += 1
                    taken += 1
                    gang_held[gang] += free_at[slot] - now
                    gang_end[gang] = free_at[slot]
            gang += 1
    return end, attempts, sent, begun, held, gang_end, gang_held
