"""Defines a synchronous job as values.  Times are seconds; a `Law` is drawn anew at each occurrence."""

from __future__ import annotations

import math
from dataclasses import dataclass

FAMILIES = ("constant", "uniform", "exponential", "normal", "gamma", "lognormal")
MOST_RANK_SECONDS = 4e8  # of one step: a tenth of what 64 bits of nanoseconds hold
NORMAL_CV = 0.3  # above it, a normal law would be negative in more than one draw of two thousand


def _whole(number: float) -> bool:
    return number == math.inf or number == int(number)


def _need(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


@dataclass(frozen=True)
class Law:
    """A duration: `family` by mean and coefficient of variation `cv`; uniform on [low, high].

    A negative draw of a normal law counts as 0; a cv above 0.3 is refused there: use gamma or lognormal.
    """

    family: str
    mean: float = 0.0
    cv: float = 0.0
    low: float = 0.0
    high: float = 0.0

    def __post_init__(self) -> None:
        _need(self.family in FAMILIES, f"family(={self.family}) must be one of {', '.join(FAMILIES)}")
        _need(0 <= self.mean < math.inf, f"mean(={self.mean}) must be at least 0 s")
        _need(0 <= self.cv < math.inf, f"cv(={self.cv}) must be at least 0")
        _need(0 <= self.low <= self.high < math.inf, f"low(={self.low}) must be from 0 s to high(={self.high})")
        normal = self.family == "normal" and self.cv > NORMAL_CV
        _need(not normal, f"cv(={self.cv}) of a normal law must be at most {NORMAL_CV}: use gamma or lognormal")


def constant(mean: float) -> Law:
    """Always `mean` seconds."""
    return Law("constant", mean)


def uniform(low: float, high: float) -> Law:
    """Anything from `low` to `high` seconds."""
    return Law("uniform", (low + high) / 2, 0.0, low, high)


@dataclass(frozen=True)
class Stragglers:
    """Ranks that are slow throughout: their steps take `factor` times as long."""

    ranks: tuple[int, ...]
    factor: float

    def __post_init__(self) -> None:
        _need(1 <= self.factor < math.inf, f"factor(={self.factor}) must be at least 1")


@dataclass(frozen=True)
class Slowdowns:
    """Episodes in which `ranks` neighbours are slow together: steps begun in one take `factor` times as long.

    Time between episodes and their lengths are exponential with means `every` and `lasts`, counted in the
    time that the job spends in steps, pauses left out.  Each episode hits another group (0: all ranks).
    """

    factor: float
    every: float
    lasts: float
    ranks: int = 0

    def __post_init__(self) -> None:
        _need(1 <= self.factor < math.inf, f"factor(={self.factor}) must be at least 1")
        _need(self.every > 0, f"every(={self.every}) must be > 0 s")
        _need(self.lasts > 0, f"lasts(={self.lasts}) must be > 0 s")


@dataclass(frozen=True)
class RankPause:
    """One rank stands still for `lasts`, on its own, once in `every` seconds of its computing on average."""

    name: str
    every: float
    lasts: Law

    def __post_init__(self) -> None:
        _need(self.every > 0, f"every(={self.every}) of {self.name} must be > 0 s")


@dataclass(frozen=True)
class Checkpoint:
    """A save at the first end of a step `every` seconds or more after the last save or restart, and at the end.

    Blocking: the job stands still for `takes`, and the work is safe when that is over.  With `snapshot`
    the job stands still for the snapshot alone; `takes` then runs beside the next steps at no cost to them,
    the work is safe when it is over, and the next snapshot waits for it.  `writers`: how many ranks write
    (0: all); the others wait for them at the barrier, under the watchdog's eyes.
    """

    every: float
    takes: Law
    snapshot: Law | None = None
    writers: int = 0

    def __post_init__(self) -> None:
        _need(self.every > 0, f"every(={self.every}) of a checkpoint must be > 0 s")


@dataclass(frozen=True)
class Failures:
    """Each node lives for a Weibull time of mean `mtbf` (shape 1: exponential), new at the start and when replaced.

    Nodes fail in wall-clock time, also while the job saves or restarts.
    """

    mtbf: float
    shape: float = 1.0
    ranks_per_node: int = 1

    def __post_init__(self) -> None:
        _need(self.mtbf > 0, f"mtbf(={self.mtbf}) must be > 0 s")
        _need(self.shape > 0, f"shape(={self.shape}) must be > 0")
        _need(self.ranks_per_node > 0, f"ranks_per_node(={self.ranks_per_node}) must be > 0")


@dataclass(frozen=True)
class JobRecovery:
    """A failure is noticed after `detection` (None: only a watchdog notices); the job comes up in `restart`.

    Failed nodes are replaced by `spares`; a failed one is a spare again after `repair` (None: never).
    Without a spare the job is idle.
    """

    restart: Law
    detection: Law | None = Law("constant")
    spares: float = math.inf
    repair: Law | None = None

    def __post_init__(self) -> None:
        _need(self.spares >= 0, f"spares(={self.spares}) must be at least 0")


@dataclass(frozen=True)
class Watchdog:
    """Kills the job when a rank has waited for another for `earliest` to `latest` seconds (uniform, each time anew)."""

    name: str
    earliest: float
    latest: float

    def __post_init__(self) -> None:
        order = 0 <= self.earliest <= self.latest < math.inf
        _need(order, f"earliest(={self.earliest}) of {self.name} must be from 0 s to latest(={self.latest})")


@dataclass(frozen=True)
class JobProgram:
    """`ranks` do `work` steps together: each computes for `step`, waits for the slowest, then `collective`.

    `groups`: so many ranks with steps of their own each, in place of `step`, which is the longest of them.
    `exchange`: how much longer the collectives take, one after another and again from the first (s).
    """

    name: str
    ranks: int
    step: Law
    work: float = math.inf
    collective: Law = Law("constant")
    stragglers: Stragglers | None = None
    slowdowns: Slowdowns | None = None
    pauses: tuple[RankPause, ...] = ()
    checkpoint: Checkpoint | None = None
    failures: Failures | None = None
    recovery: JobRecovery | None = None
    watchdogs: tuple[Watchdog, ...] = ()
    groups: tuple[tuple[int, Law], ...] = ()
    exchange: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        name = f" of {self.name}"
        _need(self.ranks > 0, f"ranks(={self.ranks}){name} must be > 0")
        _need(self.work > 0 and _whole(self.work), f"work(={self.work}){name} must be a whole number of steps")
        _need(self.step.mean > 0, f"step(={self.step.mean}){name} must be > 0 s")
        too_long = f"step(={self.step.mean:g}){name} by {self.ranks} ranks is too long to count in nanoseconds"
        _need(self.ranks * self.step.mean <= MOST_RANK_SECONDS, too_long)
        stops = self.failures is not None or bool(self.watchdogs)
        _need(self.recovery is not None or not stops, f"restart time{name} is needed: failures or a watchdog end it")
        blind = self.recovery is not None and self.recovery.detection is None and not self.watchdogs
        _need(not blind, f"detection time{name} is needed: no watchdog notices a failure")
        outside = [r for r in (self.stragglers.ranks if self.stragglers else ()) if not 0 <= r < self.ranks]
        _need(not outside, f"stragglers(={outside}){name} must be ranks from 0 to {self.ranks - 1}")

    @property
    def nodes(self) -> int:
        """How many nodes carry the ranks."""
        return -(-self.ranks // (self.failures.ranks_per_node if self.failures else 1))
