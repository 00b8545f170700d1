"""Estimates period and decay of an oscillation from steady telemetry, with intervals, or that there is none.

A loop that is shaken by noise shows a resonance: a second-order mode seen through measurement noise over a
slowly drifting background.  Its spectrum is fitted to the periodogram (Whittle's likelihood, which accounts
for all autocorrelation), against the background alone; intervals are those of the likelihood region
of period and decay.  SOURCE: Whittle 1953; Dahlhaus 1988 (tapers); Brockwell and Davis, Time Series, 10.8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.identification.effective_samples import cleaned
from coherence.loops.identification.tone import NEAR, tone
from coherence.simulate.telemetry.measures import IntervalEstimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[Any]

TAPERED = 0.1  # share of the series that is faded in and out
NUISANCE = 0.02  # weak pull on parameters that the data may not determine
GRID = 17  # points per side on which the extent of the likelihood is measured
BOX = [(-9.0, 2.0), (-9.0, 9.0), (-12.0, 14.0), (-4.0, 4.0), (-9.0, 9.0), (-14.0, 14.0)]  # of the parameters
LASTING, PURE = 8.0, 0.9  # decays per series below which it may be a tone; share that a pure one explains
EVIDENCE = 6.0  # by how much BIC must favour an oscillation


@dataclass(frozen=True)
class Oscillation:
    """`period` and `decay_time` (in which the swing falls by e), s; `amplitude`: root mean square of the mode.

    `cycles`: effective number of independent stretches of the mode in the series; `evidence`: difference of BIC
    between the model without and with the mode.
    """

    period: IntervalEstimate
    decay_time: IntervalEstimate
    amplitude: float
    cycles: float
    evidence: float


@dataclass(frozen=True)
class Silence:
    """No oscillation stands out of the background; `evidence` as in `Oscillation`."""

    evidence: float
    reason: str


def oscillation(series: ArrayLike, interval: float, *, confidence: float = 0.95) -> Oscillation | Silence:
    """Returns the dominant oscillation of a stationary series scraped every `interval` seconds."""
    x = cleaned(series)
    if not interval > 0:
        raise UsageError(f"a scrape interval of {interval:g} s: give one > 0")
    if len(x) < 32 or x.std() <= 1e-12 * max(1.0, abs(float(x.mean()))):
        return Silence(-math.inf, "the series is constant or shorter than 32 values")
    spectrum = _Spectrum(x)
    without = min((spectrum.fit(start, mode=False) for start in spectrum.backgrounds()), key=lambda fit: fit[0])
    starts = spectrum.starts()
    mode = min((spectrum.fit(start, mode=True) for start in starts), key=lambda fit: fit[0])
    size = math.log(spectrum.count)
    evidence = 2 * (without[0] - mode[0]) / spectrum.inflation - 4 * size
    theta, decay = _angle(mode[1][1]), math.exp(mode[1][0])
    if evidence < EVIDENCE:
        return Silence(evidence, "the spectrum is explained without an oscillation")
    if spectrum.turning > spectrum.values.max():
        return Silence(evidence, "it turns at almost every sample: what is faster than the scrape looks the same")
    if theta * len(x) < 4 * math.pi:
        return Silence(evidence, "fewer than two periods were seen: a drift looks the same")
    cycles = len(x) * decay / 2
    quantile = _quantile(confidence, cycles)
    (slow, fast), (low, high) = spectrum.extent(mode[1], quantile)
    step = math.tau * interval
    angles = [_angle(low), theta, _angle(high)]
    if decay * len(x) < LASTING:  # a line narrower than the series resolves: the spectrum alone is biased
        line = tone(x, theta)
        half = _quantile(confidence, NEAR) * line.error
        angles[1] = line.angle if line.share > PURE else theta
        if line.share <= PURE:  # a phase that drifts: its variance grows by the decay per sample
            half = max(half, quantile * math.sqrt(min(_exp(fast), 4 * decay) / len(x)))
        least, most = math.pi / len(x) / 2, math.pi
        angles = [max(min(angles[0], angles[1] - half), least), angles[1], min(max(angles[2], angles[1] + half), most)]
    return Oscillation(
        IntervalEstimate(step / angles[1], step / angles[2], step / angles[0], confidence),
        IntervalEstimate(interval / decay, interval * _exp(-fast), interval * _exp(-slow), confidence),
        spectrum.amplitude(mode[1]),
        cycles,
        evidence,
    )


def _quantile(confidence: float, size: float) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + confidence) / 2, max(size, 2.0)))


def _angle(logit: float) -> float:
    return math.pi / (1 + math.exp(-logit))


def _exp(x: float) -> float:
    return math.exp(min(x, 700.0))


class _Spectrum:
    """The tapered periodogram of a series, and the likelihood of models of it.

    Parameters: log decay per sample, logit(angle / pi), log share of the mode, log numerator slope odds,
    then of the background: logit of its correlation, log share.  White noise has share 1.
    """

    def __init__(self, x: Array) -> None:
        from scipy.signal.windows import tukey

        n = len(x)
        window = tukey(n, TAPERED)
        self.length, power = n, float(window @ window)
        centred = x - (window @ x) / window.sum()
        self.values = np.abs(np.fft.rfft(window * centred)) ** 2 / power
        self.angles = 2 * np.pi * np.arange(len(self.values)) / n
        self.turning = float((window * centred) @ (-1.0) ** np.arange(n)) ** 2 / power  # at half the scrape rate
        keep = slice(1, (n + 1) // 2)
        self.values, self.angles = self.values[keep], self.angles[keep]
        self.values = np.maximum(self.values, 1e-12 * self.values.mean())
        self.cosine, self.double = np.cos(self.angles), np.cos(2 * self.angles)
        self.count = len(self.values)
        self.inflation = n * float((window**4).sum()) / power**2

    def mode(self, p: Array) -> Array:
        """Returns the spectrum 1 / |1 - 2 r cos(angle) z + r^2 z^2|^2 with a numerator 1 + m cos, of mean 1."""
        r, theta = math.exp(-math.exp(min(p[0], 3.0))), _angle(p[1])
        c = r * math.cos(theta)
        bottom = 1 + 4 * c * c + r**4 - 4 * c * (1 + r * r) * self.cosine + 2 * r * r * self.double
        shape = (1 + math.tanh(p[3]) * self.cosine) / np.maximum(bottom, 1e-300)
        return np.asarray(shape / shape.mean())

    def background(self, p: Array) -> Array:
        """Returns the spectrum of white noise of mean 1 and a first-order drift."""
        phi = 1 / (1 + math.exp(-p[0]))
        drift = 1 / (1 + phi * phi - 2 * phi * self.cosine)
        return np.asarray(1 + math.exp(min(p[1], 30.0)) * drift / drift.mean())

    def model(self, p: Array, *, mode: bool) -> Array:
        """Returns the spectrum up to its scale."""
        if not mode:
            return self.background(p)
        return self.background(p[4:]) + math.exp(min(p[2], 30.0)) * self.mode(p)

    def loss(self, p: Array, *, mode: bool) -> float:
        """Returns the negative log likelihood, the scale at its best; with the weak pull."""
        shape = self.model(p, mode=mode)
        nuisance = p[2:] if mode else p
        return float(
            self.count * math.log(float((self.values / shape).mean()))
            + np.log(shape).sum()
            + NUISANCE * float((np.asarray(nuisance) ** 2).sum()) / 2
        )

    def fit(self, start: Array, *, mode: bool) -> tuple[float, Array]:
        """Returns (loss, parameters) of a nearby optimum."""
        from scipy.optimize import minimize

        bounds = BOX if mode else BOX[4:]
        optimum = minimize(lambda p: self.loss(p, mode=mode), start, method="L-BFGS-B", bounds=bounds)
        return float(optimum.fun), np.asarray(optimum.x)

    def backgrounds(self) -> list[Array]:
        return [np.array([2.0, 1.0]), np.array([4.0, 4.0]), np.array([0.0, -3.0])]

    def starts(self) -> list[Array]:
        """Returns starts at the highest places of the whitened, smoothed periodogram, with fast and slow decay;
        the best few.

        The best one under each background: one that was fitted without a mode explains the mode too, and a search
        from there alone ends beside it.
        """
        rough = min((self.fit(start, mode=False) for start in self.backgrounds()), key=lambda fit: fit[0])[1]
        tops = set[float]()
        for shape in (self.background(rough), np.ones(self.count)):
            for width in (1, 5, 21):
                smooth = np.convolve(self.values / shape, np.ones(width) / width, "same")
                tops.add(float(self.angles[int(smooth.argmax())]))
        best = []
        for behind in (rough, np.array([2.0, -3.0]), np.array([4.0, 1.0])):
            candidates = [
                np.array([math.log(decay), math.log(top / max(math.pi - top, 1e-9)), share, 0.0, *behind])
                for top in sorted(tops) for decay in (0.01, 0.05, 0.25) for share in (0.0, 3.0)
            ]  # fmt: skip
            best.append(min(candidates, key=lambda p: self.loss(p, mode=True)))
        return best

    def errors(self, p: Array) -> Array:
        """Returns the standard errors of the parameters from the curvature of the likelihood, tapering accounted
        for.
        """
        free = [i for i, (low, high) in enumerate(BOX) if low + 0.01 < p[i] < high - 0.01]
        n, h = len(free), 1e-3
        curvature = np.zeros((n, n))
        unit = np.eye(len(p))[free] * h
        for i in range(n):
            for j in range(i, n):
                corners = [
                    self.loss(p + a * unit[i] + b * unit[j], mode=True) * a * b for a in (1, -1) for b in (1, -1)
                ]
                curvature[i, j] = curvature[j, i] = sum(corners) / (4 * h * h)
        size, turned = np.linalg.eigh(curvature)
        inverse = (turned / np.maximum(size, NUISANCE / 2)) @ turned.T
        standard = np.full(len(p), 100.0)
        standard[free] = np.sqrt(np.maximum(np.diag(inverse), 0) * self.inflation)
        return np.asarray(np.minimum(standard, 100.0))

    def extent(self, p: Array, quantile: float) -> list[tuple[float, float]]:
        """Returns intervals of log decay and logit angle: the likelihood region or the curvature, whichever reaches
        farther.
        """
        error = self.errors(p)[:2]
        limit = self.loss(p, mode=True) + quantile**2 * self.inflation / 2
        marks = np.linspace(-1.6, 1.6, GRID) * quantile
        moved = p.copy()
        ends = [[p[i] - quantile * error[i], p[i] + quantile * error[i]] for i in range(2)]
        for a in marks:
            for b in marks:
                moved[0], moved[1] = p[0] + a * error[0], p[1] + b * error[1]
                if self.loss(moved, mode=True) <= limit:
                    for i in range(2):
                        ends[i] = [min(ends[i][0], float(moved[i])), max(ends[i][1], float(moved[i]))]
        return [(low, high) for low, high in ends]

    def amplitude(self, p: Array) -> float:
        """Returns the root mean square of the mode."""
        shape = self.model(p, mode=True)
        scale = float((self.values / shape).mean())
        return math.sqrt(scale * math.exp(p[2]) * float(self.mode(p).mean()))
