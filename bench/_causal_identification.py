"""Rows about identification and couplings: random systems with latent signals, feedback and simultaneous pairs.

Every coefficient that is told must be the true one (of what is known only through its causes, the total one); every
share must be the true coefficient times the realised mean.  A refusal is unnecessary where the covariances of the
observed signals of a system without delays determine the coefficient (rank of their Jacobian).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from bench.harness import Row
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.effects import NoLastingEffectError, attribute
from coherence.causal.fitting.fit import Fitted, fit
from coherence.causal.fitting.gram import Column
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.fitting.identification import identify
from coherence.causal.session.couplings import couplings

Key: TypeAlias = tuple[int, int, int]  # cause, effect, delay
SYSTEMS, LENGTH, FAR = 60, 100_000, 5.0
GRAPHS, NULLS, STRENGTHS = 300, 500, {0.1: 0.2, 0.2: 0.9}  # of an influence, and how often it must be found


def rows() -> Iterator[Row]:
    """All rows."""
    yield from _told()
    yield from _needless()
    yield from _families()
    yield from _power()


@dataclass(frozen=True)
class System:
    """A linear system with its truth and its telemetry."""

    count: int
    truth: Mapping[Key, float]
    latent: frozenset[int]
    graph: CausalGraph
    series: Series
    means: Floats


def system(seed: int, length: int = LENGTH) -> System:
    """5 to 9 signals, delays 0 to 3, feedback, simultaneous pairs, memory in everything, up to two latent."""
    rng = np.random.default_rng(seed)
    count, truth = _drawn(rng)
    while _growth(count, truth) >= 0.93:
        count, truth = _drawn(rng)
    latent = frozenset(map(int, rng.choice(count - 1, int(rng.integers(0, 3)), replace=False)))
    values = _run(rng, count, truth, length)
    graph = CausalGraph(
        tuple(f"x{n}" for n in range(count)),
        tuple(Influence(f"x{c}", f"x{e}", Fraction(lag), Fraction(lag)) for c, e, lag in truth),
    )
    seen = [n for n in range(count) if n not in latent]
    series = Series(tuple(f"x{n}" for n in seen), values[:, seen], 1.0)
    return System(count, truth, latent, graph, series, np.asarray(values.mean(axis=0)))


def _drawn(rng: np.random.Generator) -> tuple[int, dict[Key, float]]:
    count = int(rng.integers(5, 10))
    made: dict[Key, float] = {}

    def add(cause: int, effect: int, lag: int, low: float, high: float) -> None:
        made[cause, effect, lag] = float(rng.uniform(low, high) * rng.choice([-1, 1]))

    for effect in range(count):
        for cause in range(effect):
            if rng.random() < 0.35:
                for lag in (int(rng.integers(0, 4)),) if rng.random() < 0.85 else (0, 1):
                    add(cause, effect, lag, 0.3, 0.9)
    for _ in range(int(rng.integers(1, 3)) if rng.random() < 0.4 else 0):
        first, last = map(int, sorted(rng.choice(count, 2, replace=False)))
        add(last, first, int(rng.integers(1, 4)), 0.2, 0.6)
    if rng.random() < 0.3:
        first, last = map(int, rng.choice(count, 2, replace=False))
        add(first, last, 0, 0.3, 0.7)
        add(last, first, 0, 0.3, 0.7)
    for one in range(count):
        if rng.random() < 0.25:
            add(one, one, 1, 0.2, 0.7)
    return count, made


def _tables(count: int, truth: Mapping[Key, float]) -> Floats:
    made = np.zeros((4, count, count))
    for (cause, effect, lag), strength in truth.items():
        made[lag, effect, cause] += strength
    return made


def _growth(count: int, truth: Mapping[Key, float]) -> float:
    tables = _tables(count, truth)
    now = np.linalg.inv(np.eye(count) - tables[0])
    whole = np.zeros((3 * count, 3 * count))
    whole[:count] = np.concatenate([now @ tables[lag] for lag in (1, 2, 3)], axis=1)
    whole[count:, :-count] = np.eye(2 * count)
    return float(max(np.abs(np.linalg.eigvals(whole)).max(), np.abs(np.linalg.eigvals(tables[0])).max()))


def _run(rng: np.random.Generator, count: int, truth: Mapping[Key, float], length: int) -> Floats:
    from scipy.signal import lfilter

    tables, early = _tables(count, truth), 400
    memory = rng.uniform(0, 0.9, count)
    chance = rng.standard_normal((length + early, count)) * rng.uniform(0.5, 1.5, count)
    drive = np.stack([lfilter([1], [1, -memory[n]], chance[:, n]) for n in range(count)], axis=1)
    drive += rng.uniform(-2, 4, count)
    now = np.linalg.inv(np.eye(count) - tables[0])
    drive, steps = drive @ now.T, [now @ tables[lag] for lag in (1, 2, 3)]
    values = np.zeros_like(drive)
    for time in range(3, len(values)):
        values[time] = drive[time] + sum(step @ values[time - lag] for lag, step in enumerate(steps, start=1))
    return np.asarray(values[early:], np.float64)


def expected(truth: Mapping[Key, float], effect: str, columns: Sequence[Column], deepest: int = 60) -> Floats:
    """The coefficients of the columns when everything else is replaced by its causes."""
    into: dict[str, list[tuple[str, int, float]]] = {}
    for (start, end, late), amount in truth.items():
        into.setdefault(f"x{end}", []).append((f"x{start}", late, amount))
    between: list[Column] = [(effect, 0)]
    links: list[tuple[Column, Column, float]] = []
    for here in between:  # grows while it is read
        for cause, lag, strength in into.get(here[0], ()):
            there = (cause, here[1] + lag)
            if there[1] <= deepest:
                links.append((here, there, strength))
                between += [there] if there not in columns and there not in between else []
    at = {column: number for number, column in enumerate(between)}
    inner, outer = np.zeros((len(between), len(between))), np.zeros((len(between), len(columns)))
    for here, there, strength in links:
        table, place = (outer, list(columns).index(there)) if there in columns else (inner, at[there])
        table[at[here], place] += strength
    return np.asarray(np.linalg.solve(np.eye(len(between)) - inner, outer)[0], np.float64)


def fitted(made: System) -> Fitted:
    """The fit as `coherence fit` makes it."""
    return fit(made.series, made.graph)


def wrong_coefficients(made: System, found: Fitted) -> tuple[int, int, int]:
    """(told, told and more than 5 standard errors off, refused)."""
    told = wrong = refused = 0
    for effect, node in found.nodes.items():
        one = node.equation
        truth = expected(made.truth, effect, one.columns)
        tied = {column for group in node.groups for column in group} | set(one.lost)
        for number, column in enumerate(one.columns):
            refused += column in tied
            told += column not in tied
            off = abs(float(node.coefficients[0, number]) - float(truth[number]))
            wrong += column not in tied and off > FAR * max(float(node.error[number]), 1e-9)
    return told, wrong, refused


def wrong_shares(made: System, found: Fitted) -> tuple[int, int]:
    """(shares of the last signal, those more than 5 standard errors from true total effect times realised mean)."""
    seen, hidden = [n for n in range(made.count) if n not in made.latent], sorted(made.latent)
    whole = _tables(made.count, made.truth).sum(axis=0)
    direct = whole[np.ix_(seen, seen)]
    if hidden:
        away = np.linalg.inv(np.eye(len(hidden)) - whole[np.ix_(hidden, hidden)])
        direct = direct + whole[np.ix_(seen, hidden)] @ away @ whole[np.ix_(hidden, seen)]
    level = made.means[seen]
    parts = np.linalg.inv(np.eye(len(seen)) - direct)[-1] * (level - direct @ level)
    at = {f"x{n}": place for place, n in enumerate(seen)}
    loss, count, wrong = f"x{made.count - 1}", 0, 0
    try:
        shares = attribute(found, loss).shares
    except NoLastingEffectError:
        return 1, 1
    for share in (share for share in shares if loss not in share.members):
        truth = sum(float(parts[at[name]]) for name in share.members)
        count += 1
        wrong += abs(share.amount.value - truth) > FAR * max(share.amount.error, 1e-3 * (abs(truth) + 0.01))
    return count, wrong


def _told() -> Iterator[Row]:
    told = wrong = refused = shares = off = 0
    for seed in range(SYSTEMS):
        made = system(seed)
        found = fitted(made)
        for_one = wrong_coefficients(made, found)
        told, wrong, refused = told + for_one[0], wrong + for_one[1], refused + for_one[2]
        counted = wrong_shares(made, found)
        shares, off = shares + counted[0], off + counted[1]
    unit = f"of {told}, {refused} refused"
    yield Row(f"told and wrong: coefficients of {SYSTEMS} random systems, 10^5 rows, 5 errors", wrong, "== 0", unit)
    yield Row("told and wrong: shares of their losses", off, "== 0", f"of {shares}")


def determined(count: int, edges: Sequence[tuple[int, int]], latent: Sequence[int]) -> dict[tuple[int, int], bool]:
    """Does the covariance of the observed signals fix each coefficient, near a random point?  Exact derivatives."""
    rng = np.random.default_rng(0)
    seen = [n for n in range(count) if n not in latent]
    point = np.concatenate(
        [rng.uniform(0.4, 0.9, len(edges)) * rng.choice([-1, 1], len(edges)), rng.uniform(0.5, 1.5, count)]
    )
    upper = np.triu_indices(len(seen))

    def covariance(numbers: np.ndarray[tuple[int, ...], np.dtype[np.complex128]]) -> Floats:
        table = np.zeros((count, count), complex)
        for (cause, effect), strength in zip(edges, numbers, strict=False):
            table[effect, cause] = strength
        way = np.linalg.inv(np.eye(count) - table)
        found = way @ np.diag(numbers[len(edges) :]) @ way.T
        return np.asarray(found[np.ix_(seen, seen)][upper].imag / 1e-30, np.float64)

    slopes = np.stack([covariance(point + 1e-30j * unit) for unit in np.eye(len(point))], axis=1)
    _, sizes, ways = np.linalg.svd(slopes)
    free = ways[int((sizes > 1e-9 * sizes[0]).sum()) :]
    return {edge: bool(np.abs(free[:, n]).max(initial=0.0) < 1e-7) for n, edge in enumerate(edges)}


def _needless() -> Iterator[Row]:
    asked = refused = needless = invented = 0
    rng = np.random.default_rng(1)
    for _ in range(GRAPHS):
        count = int(rng.integers(4, 8))
        edges = sorted((c, e) for e in range(count) for c in range(e) if rng.random() < 0.45)
        roots = [n for n in range(count - 1) if all(e != n for _, e in edges)]
        latent = [int(n) for n in rng.choice(roots, min(int(rng.integers(1, 3)), len(roots)), replace=False)]
        graph = CausalGraph(tuple(f"x{n}" for n in range(count)), tuple(Influence(f"x{c}", f"x{e}") for c, e in edges))
        names = tuple(f"x{n}" for n in range(count) if n not in latent)
        plan = identify(graph, names, {(f"x{c}", f"x{e}"): (0,) for c, e in edges if c not in latent}, 1.0)
        fixed = determined(count, edges, latent)
        for cause, effect in (edge for edge in edges if edge[0] not in latent and edge[1] not in latent):
            one = plan[f"x{effect}"]
            lost = (f"x{cause}", 0) in one.lost or f"x{cause}" in one.replaced
            asked, refused = asked + 1, refused + lost
            needless += lost and fixed[cause, effect]
            invented += not lost and not one.replaced and not fixed[cause, effect]
    yield Row(f"refused though the covariances fix it, {GRAPHS} graphs without delays", needless / max(asked, 1),
              "<= 0.1", f"of {asked} coefficients, {refused} refused")  # fmt: skip
    yield Row("told though the covariances do not fix it", invented, "== 0", f"of {asked}")


def null(seed: int, kind: str, length: int = 2000) -> Series:
    """`lost` follows `a`; eight signals beside it have nothing to do with it."""
    rng = np.random.default_rng(seed)
    others = {f"n{number}": _wandering(rng, length, kind) for number in range(8)}
    a = _wandering(rng, length, kind)
    lost = 0.8 * a + _wandering(rng, length, kind)
    signals = {"a": a, "lost": lost, **others}
    return Series(tuple(signals), np.column_stack([*signals.values()]), 300.0 if kind == "day" else 1.0)


def _wandering(rng: np.random.Generator, length: int, kind: str) -> Floats:
    from scipy.signal import lfilter

    if kind == "on and off":
        turns = np.cumsum(rng.geometric(1 / 40, length))
        level = np.searchsorted(turns, np.arange(length)) % 2
        return np.asarray(level * 3.0 + 0.3 * rng.standard_normal(length), np.float64)
    if kind == "trend":
        return np.asarray(rng.normal() * np.linspace(0, 5, length) + _wandering(rng, length, "0.7"), np.float64)
    if kind == "day":
        turn = np.sin(2 * np.pi * np.arange(length) / 288 + rng.uniform(0, 2 * np.pi))
        return np.asarray(2 * turn + _wandering(rng, length, "0.7"), np.float64)
    return np.asarray(lfilter([1], [1, -float(kind)], rng.standard_normal(length + 200))[200:], np.float64)


WAYS = CausalGraph(("a", "lost"), (Influence("a", "lost"),))


def _families() -> Iterator[Row]:
    for kind in ("0.7", "0.9", "0.97", "on and off", "trend", "day"):
        false = sum(bool(couplings(null(seed, kind), WAYS).couplings) for seed in range(NULLS))
        what = f"memory {kind}" if kind[0] == "0" else f"{kind}, in all signals" if kind in {"trend", "day"} else kind
        yield Row(f"undeclared couplings, nothing there, {what}: any found", false / NULLS, "<= 0.01",
                  f"of {NULLS} runs")  # fmt: skip


def _power() -> Iterator[Row]:
    for strength, least in STRENGTHS.items():
        hits = 0
        for seed in range(100):
            made = null(seed, "0.7")
            values = made.values.copy()
            values[1:, 1] += strength * values[:-1, 2]
            hits += ("n0", 1) in {(f.cause, f.lag) for f in couplings(Series(made.names, values, 1.0), WAYS).couplings}
        yield Row(
            f"undeclared coupling of strength {strength:g} found, 2,000 rows", hits / 100, f">= {least}", "of 100 runs"
        )
