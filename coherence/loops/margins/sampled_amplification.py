"""Computes how much a sampled system amplifies: from what is added to one reading to another signal, lap by lap.

With v, what is added to the readings of one sampler in a lap, and y, the commands of another one in that lap (or the
output of a block at the instants of the first),

    x[k+1] = A x + B v,   y = C x + D v,   G(z) = C (z I - A)^-1 B + D

The largest gain is max |G(z)| over the unit circle: of the energies of v and y in a lap, where a lap has several
decisions.  The variance ratio is the mean variance of y over that of independent readings v: the sum of squares of the
impulse response, (trace(C X C^T) + trace(D D^T)) / decisions with X = A X A^T + B B^T.
SOURCE: Zhou, Doyle, Glover, Robust and Optimal Control, 4.6 (Gramians); Dejonckheere et al. 2003 (bullwhip).

    >>> from coherence.loops.multirate.sampled_system import Sampler, checked
    >>> mean_of_five = Sampler("orders", (1.8, 0, 0, 0, 0, -0.8), (1, 0, 0, 0, 0, 0))      # lead 4, a mean of 5 periods
    >>> answer = amplified(checked([mean_of_five]), "orders", "orders")
    >>> round(answer.peak.value, 6), round(answer.variance_ratio, 6)
    (2.6, 3.88)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.margins.sampled_margins import CirclePeak, largest_gain
from coherence.loops.multirate.lifting import LapLifting
from coherence.loops.multirate.opened_lap import OpenedLap, within_reach
from coherence.loops.multirate.sampled_system import Multirate, exactly
from coherence.loops.multirate.verdict import floquet

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_STATES = 200  # of a lap whose amplification is bounded


@dataclass(frozen=True)
class SampledAmplification:
    """The largest gain over all frequencies, and the mean variance over that of independent readings."""

    peak: CirclePeak
    variance_ratio: float


def amplified(system: Multirate, source: str, target: str) -> SampledAmplification:
    """Returns what becomes at `target`, a sampler or a block, of what is added to the reading of sampler `source`.

    Raises UsageError where the system is not proved stable, and for what cannot be lifted.
    """
    verdict = floquet(system)
    if verdict.verdict != "stable":
        raise UsageError(f"no amplification is given of what is not stable: {verdict.verdict}, {verdict.reason}")
    lap = lap_between(system, source, target)
    if len(lap.a) > MOST_STATES:
        raise UsageError(f"{len(lap.a)} values are remembered over a lap, more than {MOST_STATES}")
    return SampledAmplification(largest_gain(lap), _variance_ratio(lap))


def lap_between(system: Multirate, source: str, target: str) -> OpenedLap:
    """Returns G.  Raises UsageError for names of neither sampler nor block."""
    samplers, blocks = [s.name for s in system.samplers], [b.name for b in system.blocks]
    if source not in samplers:
        raise UsageError(f"what is added to '{source}' is not sampled: name a sampled block to begin at")
    if target not in samplers and target not in blocks:
        raise UsageError(f"'{target}' is neither sampled nor a block")
    lifting = _Driven(system, samplers.index(source), target)
    lifting.run()
    return lifting.driven()


class _Driven(LapLifting):
    """A lap in which inputs are added to the readings of one sampler, and one signal is recorded."""

    def __init__(self, system: Multirate, at: int, target: str) -> None:
        self.at, self.target = at, target
        self.inputs = int(system.period / exactly(system.samplers[at].period))
        self.recorded: list[NDArray[np.float64]] = []
        self.driven_instants = 0
        super().__init__(system)

    def _decide(self, j: int, now: Fraction, read: NDArray[np.float64]) -> None:
        if j == self.at:
            read = read + self.unit[self.size - self.inputs + self.driven_instants]
            self.driven_instants += 1
            self._record_block(now)
        super()._decide(j, now, read)
        if self.system.samplers[j].name == self.target:
            self.recorded.append(self.rows[j][-1])

    def _record_block(self, now: Fraction) -> None:
        names = [block.name for block in self.system.blocks]
        if self.target in names:
            self.recorded.append(self._signal(names.index(self.target), now, Fraction(0)))

    def driven(self) -> OpenedLap:
        """Returns the matrices, without what the inputs do not reach and the recorded signal does not see."""
        split = self.size - self.inputs
        end = self.lifted().matrix.astype(float).reshape(split, self.size)
        seen = np.array(self.recorded).astype(float)
        joined = within_reach(end[:, :split], end[:, split:], seen[:, :split])
        return OpenedLap(end[np.ix_(joined, joined)], end[joined, split:], seen[:, joined], seen[:, split:], self.end)


def _variance_ratio(lap: OpenedLap) -> float:
    from scipy.linalg import solve_discrete_lyapunov

    direct = float((lap.d**2).sum())
    if not len(lap.a):
        return direct / lap.decisions
    gramian = solve_discrete_lyapunov(lap.a, lap.b @ lap.b.T)
    return float(np.trace(lap.c @ gramian @ lap.c.T) + direct) / lap.decisions
