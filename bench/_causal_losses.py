"""Losses: sums of random ledgers, exact prices, coverage of intervals, recovery, and what signals identify."""

from __future__ import annotations

import math
import time

import numpy as np
import numpy.typing as npt

from bench.harness import Row
from coherence.causal.ledger.auditability import AuditSignal, audit
from coherence.causal.ledger.capacity import Fleet, capacity, fleet
from coherence.causal.ledger.loss_ledger import LossLedger, ledger
from coherence.causal.ledger.recovery import recovery
from coherence.causal.ledger.times import Times, layout, useful

FLEETS = 2000
RUNS = 400
Floats = npt.NDArray[np.float64]


def rows() -> list[Row]:
    """Every row of this module."""
    return [*_sums(), _coverage(), _large(), _recovery(), *_audits()]


def _fleet(random: np.random.Generator, most: int = 6) -> Fleet:
    devices, classes = (int(n) for n in random.integers(1, most + 1, 2))
    rate = random.lognormal(0, 1, (devices, classes)) * (random.random((devices, classes)) < 0.8)
    rate[random.integers(devices)] += 0.1
    names = tuple(f"d{i}" for i in range(devices)), tuple(f"k{i}" for i in range(classes))
    return Fleet(*names, random.integers(1, 1000, devices).astype(float), rate, random.dirichlet(np.ones(classes)))


def _times(given: Fleet, random: np.random.Generator) -> Times:
    shares = random.dirichlet(np.full(len(layout(given.classes)), 0.5), (1, len(given.devices)))
    shares[:, :, useful(given)] *= given.rate > 0
    shares /= shares.sum(axis=2, keepdims=True)
    return Times(given, shares * given.count[:, None] * 100.0, np.array([100.0]))


def _sums() -> list[Row]:
    random = np.random.default_rng(11)
    error = duality = slackness = 0.0
    least, refuted, before = 0.0, 0, time.process_time()
    for _ in range(FLEETS):
        given = _fleet(random)
        found = ledger(capacity(given), _times(given, random))
        wrong, lowest = _checked(found)
        error, least = max(error, wrong), min(least, lowest)
        duality = max(duality, abs(float(given.count @ found.capacity.y) / found.capacity.value - 1))
        slackness = max(
            slackness, float(np.abs(found.capacity.x * found.capacity.reduced).max()) / found.capacity.value
        )
        refuted += bool(found.violations)
    taken = (time.process_time() - before) / FLEETS
    return [
        Row(f"ledger: {FLEETS} random fleets, error of the sum", error, "<= 1e-12", "of provisioned"),
        Row("ledger: most negative term, beyond rounding 1e-15", min(0.0, least + 1e-15), ">= 0", "of provisioned"),
        Row("ledger: assumptions called violated where none is", refuted, "== 0", "fleets"),
        Row("capacity: C_nom against its prices", duality, "<= 1e-12", "relative"),
        Row("capacity: complementary slackness", slackness, "<= 1e-12", "relative"),
        Row("capacity and ledger of one fleet", 1e3 * taken, "<= 50", "ms of CPU"),
    ]


def _checked(found: LossLedger) -> tuple[float, float]:
    whole = found.totals["provisioned"]
    gap = (found.nominal - found.effective) * found.times.window
    return abs(math.fsum(line.amount for line in found.states) - gap) / whole, (
        min(line.amount for line in found.states) / whole
    )


def _coverage() -> Row:
    """Shares of a state that comes and goes for 20 s, in runs of two hours."""
    from scipy.signal import lfilter

    random, given = np.random.default_rng(2), fleet({"h100": 10}, {"h100": {"chat": 10}}, {"chat": 1})
    found, labels, hits = capacity(given), layout(given.classes), 0
    keep = math.exp(-1 / 20)
    for _ in range(RUNS):
        noise = random.normal(0, 1, 7400)
        level: Floats = 3 + 0.5 * lfilter([1], [1, -keep], noise)[200:] * math.sqrt(1 - keep**2)
        parts = level.reshape(12, 600).sum(axis=1)
        seconds = np.zeros((12, 1, len(labels)))
        seconds[:, 0, labels.index("barrier")] = parts
        seconds[:, 0, labels.index("useful.chat")] = 6000 - parts
        told = ledger(found, Times(given, seconds, np.full(12, 600.0)))
        hits += 0.3 in told["A"].shares["provisioned"].estimate
    off = abs(hits / RUNS - 0.95)
    return Row(f"ledger: 95 % interval of a share, {RUNS} runs: coverage less 95 %", off, "<= 0.02", "of runs")


def _large() -> Row:
    random = np.random.default_rng(3)
    given = Fleet(
        tuple(f"d{i}" for i in range(20)), tuple(f"k{i}" for i in range(12)), random.integers(1, 99, 20).astype(float),
        random.lognormal(0, 1, (20, 12)), random.dirichlet(np.ones(12)),
    )  # fmt: skip
    before = time.process_time()
    capacity(given)
    return Row("capacity: 20 kinds x 12 classes, exactly", time.process_time() - before, "<= 2", "s of CPU")


def _recovery() -> Row:
    gain = recovery(["retries"], lambda off: 100.0 if off else 80.0, nominal=100)["retries",]
    return Row("recovery: f = 0.2 gives 25 % more, error", abs(gain.ratio - 0.25), "<= 1e-12", "relative")


def _audits() -> list[Row]:
    """Random ledgers seen through random sums: is the true part in its interval, and are identified parts right?"""
    random, outside, wrong, parts = np.random.default_rng(4), 0, 0, 0
    for _ in range(200):
        count = int(random.integers(2, 9))
        names, truth = tuple(f"x{i}" for i in range(count)), random.integers(0, 64, count) / 64
        sums = random.integers(0, 2, (int(random.integers(1, count + 1)), count)).astype(float)
        given = [
            AuditSignal(f"s{i}", (dict(zip(names, map(float, row), strict=True)),), (float(row @ truth),))
            for i, row in enumerate(sums)
        ]
        for part, true in zip(audit(names, given).parts, truth, strict=True):
            parts += 1
            outside += not part.low <= true <= part.high
            wrong += part.identified and not part.low == part.high == true
    return [
        Row(f"auditability: {parts} parts, true share outside its interval", outside, "== 0", "parts"),
        Row("auditability: identified parts that are not the true ones", wrong, "== 0", "parts"),
    ]
