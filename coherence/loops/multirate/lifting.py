"""Lifting: one lap of a sampled system of several rates as one matrix, exact in time.

The variables are what the future depends on: the continuous state at -lag (the lag covers the longest window),
the samplers' own states, and the commands that still act.  The lap is carried out on rows of coefficients over
these variables: between commands by matrix exponentials, so holds, fractional delays, windows and phases are
exact; for chains of integrators the rows are rational.  SOURCE: Bittanti and Colaneri, Periodic Systems (2009),
chapter 6 (lifting); Astrom and Wittenmark, Computer-Controlled Systems, 3rd ed., 3.3 (fractional delay).
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.multirate.enclosed_motion import EnclosedMotion
from coherence.loops.multirate.plant import Motion, canonical, plant, zeros
from coherence.loops.multirate.sampled_system import Multirate, exactly

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

MOST_INSTANTS, MOST_VARIABLES = 20_000, 2_000


@dataclass(frozen=True)
class Lifted:
    """x at the end of a lap of `period` seconds = matrix x at its start.

    `exact`: the entries are `Fraction`s.  `commands`: by sampler, its commands of the lap as rows over x.
    """

    matrix: Array
    period: Fraction
    exact: bool
    commands: dict[str, Array]

    @property
    def floats(self) -> NDArray[np.float64]:
        """Returns the matrix in floating point."""
        return self.matrix.astype(float)


def lift(system: Multirate) -> Lifted:
    """Lifts the system.  Raises UsageError where periods have no short common multiple, or more is remembered than
    fits.
    """
    lap = LapLifting(system)
    lap.run()
    return lap.lifted()


class LapLifting:
    """The lap while it is carried out.  `inputs`: variables beside what is remembered, which a heir puts in; `memory`:
    s, how far back it remembers at least; `enclosed`: rows are of balls, where transitions are not rational.
    """

    inputs, memory, enclosed = 0, Fraction(0), False

    def __init__(self, system: Multirate) -> None:
        self.system, self.end = system, system.period
        self.plant = plant(system, rational=self.enclosed)
        self.exact = self.plant.exact
        self.motion = EnclosedMotion(self.plant.a) if self.enclosed else Motion(self.plant.a, exact=self.exact)
        kind = exactly if self.exact else float
        self.laws = [
            canonical([kind(x) for x in s.numerator], [kind(x) for x in s.denominator], exact=self.exact)
            for s in system.samplers
        ]
        self.periods = [exactly(s.period) for s in system.samplers]
        self.lands = [exactly(s.lands) for s in system.samplers]
        index = {sampler.name: j for j, sampler in enumerate(system.samplers)}
        self.owners = [index[sampler.writes or sampler.name] for sampler in system.samplers]  # of the outputs
        if sum(self.end / period for period in self.periods) > MOST_INSTANTS:
            raise UsageError(
                f"the common period of all samplers is {float(self.end):g} s: more than {MOST_INSTANTS} instants; "
                "round the periods to a common step"
            )
        self._readers(kind)
        self.lag = max(
            [self.memory, *(w - self.plant.ahead[i] for w, row, _ in self.reads for i in np.flatnonzero(row))]
        )
        self._variables()

    def _readers(self, kind: Any) -> None:
        """Records per sampler its window, its weights of blocks and of other samplers' commands."""
        row = {block.name: i for i, block in enumerate(self.system.blocks)}
        index = {sampler.name: j for j, sampler in enumerate(self.system.samplers)}
        self.reads: list[tuple[Fraction, Array, Array]] = []
        for sampler in self.system.samplers:
            outputs, held = zeros((1, len(row)), exact=self.exact)[0], zeros((1, len(index)), exact=self.exact)[0]
            for c in self.system.couplings:
                if c.target == sampler.name:
                    to, at = (outputs, row[c.source]) if c.source in row else (held, index[c.source])
                    to[at] += kind(c.gain)
            self.reads.append((exactly(sampler.window), outputs, held))

    def _variables(self) -> None:
        """Sets unit rows for the state at -lag, the samplers' states, and the commands decided before 0."""
        times = [self._before(j) for j in range(len(self.periods))]
        sizes = [len(self.plant.a), *(len(law[0]) for law in self.laws), *map(len, times), self.inputs]
        self.size = sum(sizes)
        if self.size > MOST_VARIABLES:
            raise UsageError(
                f"{self.size} values are remembered, more than {MOST_VARIABLES}: delays or windows are long"
            )
        unit = zeros((self.size, self.size), exact=self.exact)
        for i in range(self.size):
            unit[i, i] = Fraction(1) if self.exact else 1.0
        self.unit = unit
        parts = np.split(unit, np.cumsum(sizes)[:-1])[:-1]
        self.trace: dict[Fraction, Array] = {-self.lag: parts[0]}
        self.marks = [-self.lag]
        self.states = parts[1 : 1 + len(self.laws)]
        self.before = [len(series) for series in times]
        rows = [list(part) for part in parts[1 + len(self.laws) :]]
        self.times = [times[self.owners[j]] for j in range(len(times))]
        self.rows = [rows[self.owners[j]] for j in range(len(rows))]

    def _before(self, j: int) -> list[Fraction]:
        """Returns times < 0 of the commands of sampler j, and of those that share its output, of which some act at 0
        or later, ascending; nothing where the output is another's.
        """
        if self.owners[j] != j:
            return []
        writers = [other for other, owner in enumerate(self.owners) if owner == j]
        first = min(self._first(other, j) for other in writers)
        times: list[Fraction] = []
        for other in writers:
            phase, period = exactly(self.system.samplers[other].phase), self.periods[other]
            times += [phase - k * period for k in range(1, math.floor((phase - first) / period) + 1)]
        return sorted(times)

    def _first(self, j: int, owner: int) -> Fraction:
        """Returns the time of the earliest command of sampler j that acts at 0 or later."""
        seen = [2 * self.memory, *(self.lag + delay for held, delay in self.plant.channels if held == owner)]
        seen += [window for window, _, held in self.reads if held[owner]]
        phase, period = exactly(self.system.samplers[j].phase), self.periods[j]
        count = math.floor((phase + self.lands[j] + period + max(seen)) / period)
        if count > MOST_VARIABLES:
            raise UsageError(
                f"{count} commands of {self.system.samplers[j].name} are on their way, more than {MOST_VARIABLES}: "
                "delays or windows are long"
            )
        return phase - count * period

    @property
    def past(self) -> Fraction:
        """Returns how far back something is read, s."""
        windows = (window for window, _, _ in self.reads)
        return max([self.lag, *(delay for _, delay in self.plant.channels), *windows])

    def run(self) -> None:
        """Runs through all instants of the lap."""
        due: dict[Fraction, list[int]] = {}
        for j, sampler in enumerate(self.system.samplers):
            for k in range(int(self.end / self.periods[j])):
                due.setdefault(exactly(sampler.phase) + k * self.periods[j], []).append(j)
        for now in sorted(due):
            for rank in sorted({self.system.samplers[j].rank for j in due[now]}):
                deciding = [j for j in due[now] if self.system.samplers[j].rank == rank]
                read = [self._read(j, now) for j in deciding]
                for j, row in zip(deciding, read, strict=True):
                    self._decide(j, now, row)

    def _decide(self, j: int, now: Fraction, read: Array) -> None:
        a, b, c, d = self.laws[j]
        state = self.states[j]
        self.times[j].append(now)
        self.rows[j].append((c @ state)[0] + d[0, 0] * read)
        self.states[j] = a @ state + b * read

    def _read(self, j: int, now: Fraction) -> Array:
        """Returns what sampler j reads, as a row over the variables."""
        window, outputs, held = self.reads[j]
        total = zeros((1, self.size), exact=self.exact)[0]
        for i in np.flatnonzero(outputs):
            total = total + outputs[i] * self._signal(int(i), now, window)
        for k in map(int, np.flatnonzero(held)):
            seen = self._held_mean(k, now - window, now) if window else self._seen(k, now, now)
            total = total + held[k] * seen
        return np.asarray(total)

    def _signal(self, i: int, now: Fraction, window: Fraction) -> Array:
        """Returns the output of block i at an instant, or its mean over the window before it."""
        p, q, clock = self.plant.p[i], self.plant.q[i], now + self.plant.ahead[i]
        if not window:
            row = p @ self._state(clock, now)
            for c in np.flatnonzero(q):
                k, delay = self.plant.channels[c]
                row = row + q[c] * self._seen(k, clock - delay, now)
            return np.asarray(row)
        total = zeros((1, self.size), exact=self.exact)[0]
        for start, h, inputs in self._pieces(clock - window, clock):
            _, once, twice = self.motion.over(h)
            total = (
                total
                + p @ (once @ self._state(start, now) + twice @ (self.plant.b @ inputs))
                + (q @ inputs) * self._of(h)
            )
        return np.asarray(total / self._of(window))

    def _of(self, time: Fraction) -> Any:
        return time if self.exact else float(time)

    def _state(self, at: Fraction, now: Fraction) -> Array:
        """Returns the continuous state at a time, from the nearest earlier one that is known."""
        known = self.marks[bisect.bisect_right(self.marks, at) - 1]
        state = self.trace[known]
        for _, h, inputs in self._pieces(known, at):
            moved, once, _ = self.motion.over(h)
            state = moved @ state + once @ (self.plant.b @ inputs)
        if at <= now and at not in self.trace:  # beyond, inputs of faster paths are still to come
            self.trace[at] = state
            bisect.insort(self.marks, at)
        return state

    def _pieces(self, start: Fraction, end: Fraction) -> Iterator[tuple[Fraction, Fraction, Array]]:
        """Yields (begin, length, value of every channel) of the pieces of [start, end] on which all inputs are
        constant.
        """
        cuts = {start, end}
        for k, delay in self.plant.channels:
            shift = delay + self.lands[k]
            low, high = (
                bisect.bisect_right(self.times[k], start - shift),
                bisect.bisect_left(self.times[k], end - shift),
            )
            cuts.update(time + shift for time in self.times[k][low:high])
        times = sorted(cuts)
        for begin, stop in itertools.pairwise(times):
            values = [self._landed(k, begin - delay) for k, delay in self.plant.channels]
            yield begin, stop - begin, np.array(values).reshape(len(values), self.size)

    def _landed(self, k: int, at: Fraction) -> Array:
        """Returns the command of sampler k in effect just after a time; zero before anything known."""
        index = bisect.bisect_right(self.times[k], at - self.lands[k]) - 1
        return np.asarray(self.rows[k][index]) if index >= 0 else zeros((1, self.size), exact=self.exact)[0]

    def _seen(self, k: int, at: Fraction, now: Fraction) -> Array:
        """Returns the command of sampler k as a reading at `at` saw it: not what was decided in that instant itself,
        except now, when those of lower rank have decided and no other one.
        """
        if self.lands[k] or at == now:
            return self._landed(k, at)
        index = bisect.bisect_left(self.times[k], at) - 1
        return np.asarray(self.rows[k][index]) if index >= 0 else zeros((1, self.size), exact=self.exact)[0]

    def _held_mean(self, k: int, start: Fraction, end: Fraction) -> Array:
        times = [start, *(t + self.lands[k] for t in self.times[k] if start < t + self.lands[k] < end), end]
        total = zeros((1, self.size), exact=self.exact)[0]
        for begin, stop in itertools.pairwise(times):
            row = self._landed(k, begin)
            named = np.flatnonzero(row)  # few: most of what is held is a variable of its own
            total[named] += row[named] * self._of((stop - begin) / (end - start))
        return np.asarray(total)

    def lifted(self) -> Lifted:
        """Returns the end of the lap over its start."""
        rows = [self._state(self.end - self.lag, self.end), *self.states]
        rows += [np.array(self.rows[k][-n:]).reshape(n, self.size) for k, n in enumerate(self.before) if n]
        matrix = np.vstack(rows) if rows else zeros((0, 0), exact=self.exact)
        commands = {
            s.name: np.array(self.rows[k][self.before[self.owners[k]] :]) for k, s in enumerate(self.system.samplers)
        }
        return Lifted(matrix, self.end, self.exact, commands)
