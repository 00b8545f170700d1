"""Draws the steps of a job, whatever happens to it: blocks of steps, all ranks at once.

The stream depends on the job and the seed alone, not on failures or saves: two policies of one job meet
the same steps.  A step that is done again takes a new draw.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coherence.simulate.jobs.job import MOST_RANK_SECONDS, JobProgram, RankPause, Slowdowns
from coherence.simulate.jobs.ticks import NEVER, SECOND, Ticks, draw, generator, in_ticks, ticks

BLOCK = 1 << 18  # draws at a time
SPREAD, STRAGGLER, SLOWDOWN, PAUSE = 0, 1, 2, 3  # why the slowest rank was slow; PAUSE + k: the k-th kind of pause


@dataclass(frozen=True, slots=True)
class Steps:
    """One row for each step; times in nanoseconds, sums over ranks in rank-nanoseconds.

    ranks x length = needed + straggling + slowed + paused + waiting + ranks x collective.
    `kill`: time from the start of the step at which watchdog `timer` kills the job (-1: none does).
    `pauses`: (step, kind, rank, length) of each pause, steps counted from the first row.
    """

    length: Ticks
    first: Ticks
    slowest: Ticks
    collective: Ticks
    needed: Ticks
    straggling: Ticks
    slowed: Ticks
    paused: Ticks
    waiting: Ticks
    rank: Ticks
    why: Ticks
    kill: Ticks
    timer: Ticks
    pauses: Ticks

    def __len__(self) -> int:
        return len(self.length)


def joined(blocks: list[Steps], count: int) -> Steps:
    """Returns the first `count` rows of consecutive blocks as one."""
    columns = {}
    starts = np.cumsum([0, *(len(block) for block in blocks)])
    for column in dataclasses.fields(Steps):
        parts = [getattr(block, column.name) for block in blocks]
        if column.name == "pauses":
            moved = np.concatenate(
                [part + np.array([start, 0, 0, 0]) for part, start in zip(parts, starts, strict=False)]
            )
            columns[column.name] = moved[moved[:, 0] < count]
        else:
            columns[column.name] = np.concatenate(parts)[:count]
    return Steps(**columns)


class Stream:
    """Endless steps of a job, block by block; `arrivals` holds the ranks' times of the newest block."""

    def __init__(self, job: JobProgram, seed: int) -> None:
        self.job = job
        self.rows = max(1, min(1024, BLOCK // job.ranks, int(MOST_RANK_SECONDS / (job.ranks * job.step.mean))))
        self.steps, self.meets, self.stops = (generator(seed, p) for p in ("steps", "collectives", "pauses"))
        self.patience = generator(seed, "watchdogs")
        self.slow = _Episodes(job.slowdowns, job.ranks, generator(seed, "slowdowns")) if job.slowdowns else None
        self.arrivals: Ticks = np.zeros((0, job.ranks), np.int64)
        self.exchange, self.exchanged = in_ticks(np.array(job.exchange, np.float64)), 0

    def block(self) -> Steps:
        """Returns the next steps."""
        job, ranks = self.job, self.job.ranks
        groups = job.groups or ((ranks, job.step),)
        needed = np.concatenate([draw(law, self.steps, (self.rows, count)) for count, law in groups], axis=1)
        meets = draw(job.collective, self.meets, (self.rows,)) + self._exchange()
        why = np.zeros_like(needed) if job.stragglers or job.slowdowns or job.pauses else None
        arrivals = self._straggle(needed, why)
        straggled = _sum(arrivals)
        if self.slow is not None:
            arrivals = self.slow.apply(arrivals, meets, why)
        slowed = _sum(arrivals)
        pauses = self._pause(arrivals, why)
        self.arrivals = arrivals
        slowest, rank = arrivals.max(axis=1), arrivals.argmax(axis=1)
        _countable(int(slowest.max()), self.rows, ranks)
        all_time = _sum(arrivals)
        first = arrivals.min(axis=1)
        kill, timer = self._watched(first, slowest)
        rows = np.arange(self.rows)
        return Steps(
            slowest + meets, first, slowest, meets, _sum(needed), straggled - _sum(needed), slowed - straggled,
            all_time - slowed, ranks * slowest - all_time, rank,
            why[rows, rank] if why is not None else np.zeros_like(rank), kill, timer, pauses,
        )  # fmt: skip

    def _exchange(self) -> Ticks:
        """Returns how long what goes over links takes after each of the next steps."""
        if not len(self.exchange):
            return np.zeros(self.rows, np.int64)
        own = self.exchange[(self.exchanged + np.arange(self.rows)) % len(self.exchange)]
        self.exchanged += self.rows
        return np.asarray(own)

    def _straggle(self, needed: Ticks, why: Ticks | None) -> Ticks:
        if self.job.stragglers is None or why is None:
            return needed.copy() if self.job.slowdowns or self.job.pauses else needed
        ranks, arrivals = list(self.job.stragglers.ranks), needed.copy()
        arrivals[:, ranks] = _stretched(needed[:, ranks], self.job.stragglers.factor)
        why[:, ranks] = STRAGGLER
        return arrivals

    def _pause(self, arrivals: Ticks, why: Ticks | None) -> Ticks:
        """Let ranks pause, in place; each kind comes as a Poisson process over what they compute."""
        pauses = [_pauses(pause, arrivals, self.stops) for pause in self.job.pauses]
        for kind, (step, rank, length) in enumerate(pauses):
            np.add.at(arrivals, (step, rank), length)
            assert why is not None
            why[step, rank] = PAUSE + kind
        columns = [np.column_stack((s, np.full_like(s, kind), r, n)) for kind, (s, r, n) in enumerate(pauses)]
        return np.concatenate(columns) if columns else np.zeros((0, 4), np.int64)

    def _watched(self, first: Ticks, slowest: Ticks) -> tuple[Ticks, Ticks]:
        kill, timer = np.full_like(first, NEVER), np.full_like(first, -1)
        for index, dog in enumerate(self.job.watchdogs):
            (rows,) = np.nonzero(slowest - first > ticks(dog.earliest))
            patience = in_ticks(self.patience.uniform(dog.earliest, dog.latest, len(rows)))
            fires = first[rows] + patience
            sooner = (fires < slowest[rows]) & (fires < kill[rows])
            kill[rows[sooner]], timer[rows[sooner]] = fires[sooner], index
        kill[timer < 0] = -1
        return kill, timer


def _countable(slowest: int, rows: int, ranks: int) -> None:
    if slowest * rows * ranks >= NEVER:
        raise ValueError(f"a step of {slowest / SECOND:.6g} s by {ranks} ranks is too long to count in nanoseconds")


def _sum(matrix: Ticks) -> Ticks:
    return np.asarray(matrix.sum(axis=1))


def _stretched(times: Ticks, factor: float) -> Ticks:
    return np.asarray(np.rint(times * factor), np.int64)


def _pauses(pause: RankPause, arrivals: Ticks, rng: np.random.Generator) -> tuple[Ticks, Ticks, Ticks]:
    """(step, rank, length) of each pause of a block; where in it they fall is uniform over the time computed."""
    by_step = np.cumsum(_sum(arrivals))
    count = int(rng.poisson(float(by_step[-1]) / ticks(pause.every)))
    at = np.sort(rng.integers(0, by_step[-1], count)) if by_step[-1] else np.zeros(0, np.int64)
    step = np.searchsorted(by_step, at, side="right")
    left = at - np.where(step > 0, by_step[step - 1], 0)
    inside = [np.searchsorted(np.cumsum(arrivals[s]), x, side="right") for s, x in zip(step, left, strict=True)]
    return step.astype(np.int64), np.array(inside, np.int64), draw(pause.lasts, rng, (len(step),))


class _Episodes:
    """Alternating quiet and slow time; remembers where it is from block to block."""

    CHUNK = 64

    def __init__(self, law: Slowdowns, ranks: int, rng: np.random.Generator) -> None:
        self.law, self.rng, self.ranks = law, rng, ranks
        self.slow, self.left = False, self._length(law.every)
        self.group: slice | npt.NDArray[np.intp] = slice(0, 0)

    def _length(self, mean: float) -> int:
        return max(1, int(in_ticks(self.rng.exponential(mean, 1))[0]))

    def _switch(self) -> None:
        self.slow = not self.slow
        self.left = self._length(self.law.lasts if self.slow else self.law.every)
        if self.slow:
            start = int(self.rng.integers(0, self.ranks))
            self.group = (start + np.arange(min(self.law.ranks or self.ranks, self.ranks))) % self.ranks

    def apply(self, arrivals: Ticks, meets: Ticks, why: Ticks | None) -> Ticks:
        """Stretch the steps that begin in an episode."""
        at, rows = 0, len(arrivals)
        quick = arrivals.max(axis=1) + meets
        while at < rows:
            until = min(rows, at + self.CHUNK) if self.slow else rows
            part = self._stretch(arrivals[at:until]) if self.slow else arrivals[at:until]
            lengths = part.max(axis=1) + meets[at:until] if self.slow else quick[at:]
            begins = np.cumsum(lengths) - lengths
            inside = int(np.searchsorted(begins, self.left, side="left"))  # steps that begin before the switch
            if self.slow and why is not None:
                arrivals[at : at + inside] = part[:inside]
                why[at : at + inside, self.group] = SLOWDOWN
            self.left -= int(lengths[:inside].sum())
            at += inside
            if self.left <= 0:
                self._elapse()
        return arrivals

    def _elapse(self) -> None:
        over = -self.left
        self._switch()
        while over >= self.left:
            over -= self.left
            self._switch()
        self.left -= over

    def _stretch(self, part: Ticks) -> Ticks:
        made = part.copy()
        made[:, self.group] = _stretched(part[:, self.group], self.law.factor)
        return made


def living(arrivals: Ticks, dead: npt.NDArray[np.bool_], failed_at: int) -> int:
    """Returns when the first rank waits, if `dead` ranks stop at `failed_at`: what was there before counts too."""
    there = arrivals[(~dead) | (arrivals <= failed_at)]
    return int(there.min()) if len(there) else failed_at
