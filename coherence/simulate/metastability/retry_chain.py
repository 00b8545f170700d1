"""Solves retries as a Markov chain (tries at the server x retries that wait) without subtractions.

Levels are the number of tries at the server (waiting or in service), phases the number in the orbit; a transition
moves by at most one level.  Whole levels are eliminated one after another, every diagonal is the sum of what leaves,
and no two numbers are subtracted: mean times of 1e30 s come out as exactly as those of 1 s, where a linear solver
stops at the reciprocal of the rounding error (about 1e14 s) and answers noise beyond.

SOURCE: W. K. Grassmann, M. I. Taksar, D. P. Heyman, "Regenerative analysis and steady state distributions for
Markov chains", Operations Research 1985, here by levels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from coherence.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

HOUR = 3600.0  # s: a mode that lasts longer looks like a steady state to whoever watches it


@dataclass(frozen=True)
class RetryChain:
    """`down`, `stay`, `up`: rates (per second) from [level, phase] to [phase] of the level below, same, above."""

    down: Floats = field(compare=False)
    stay: Floats = field(compare=False)
    up: Floats = field(compare=False)

    @property
    def levels(self) -> int:
        return int(self.stay.shape[0])

    @property
    def phases(self) -> int:
        return int(self.stay.shape[1])

    @property
    def states(self) -> int:
        return self.levels * self.phases


def chain(levels: int, phases: int, moves: Callable[[Floats, Floats], dict[tuple[int, int], Any]]) -> RetryChain:
    """The chain whose `moves(level, phase)` give the rate of each step (levels, phases); steps outside vanish."""
    import numpy as np

    level, phase = np.meshgrid(np.arange(levels, dtype=float), np.arange(phases, dtype=float), indexing="ij")
    blocks = {step: np.zeros((levels, phases, phases)) for step in (-1, 0, 1)}
    at, own = np.indices((levels, phases))
    for (dq, do), rate in moves(level, phase).items():
        rates = np.broadcast_to(rate, level.shape)
        inside = (at + dq >= 0) & (at + dq < levels) & (own + do >= 0) & (own + do < phases) & (rates > 0)
        blocks[dq][at[inside], own[inside], own[inside] + do] += rates[inside]
    return RetryChain(blocks[-1], blocks[0], blocks[1])


def generator(chain: RetryChain) -> Any:
    """Returns the sparse generator matrix (scipy, CSR) over states level * phases + phase; its rows add up to 0."""
    import numpy as np
    from scipy import sparse

    n = chain.phases
    rows, columns, rates = [], [], []
    for step, block in ((-1, chain.down), (0, chain.stay), (1, chain.up)):
        level, source, target = np.nonzero(block)
        rows.append(level * n + source)
        columns.append((level + step) * n + target)
        rates.append(block[level, source, target])
    row, column, rate = np.concatenate(rows), np.concatenate(columns), np.concatenate(rates)
    matrix = sparse.csr_matrix((rate, (row, column)), shape=(chain.states, chain.states))
    return (matrix - sparse.diags(np.asarray(matrix.sum(axis=1)).ravel())).tocsr()


def second_eigenvalue(chain: RetryChain) -> complex:
    """Returns the eigenvalue next to 0 (1/s): minus its real part is the slowest rate at which the chain forgets."""
    import numpy as np
    from scipy.sparse.linalg import eigs

    matrix = generator(chain)
    scale = float(np.abs(matrix.diagonal()).max())
    start = np.random.default_rng(0).random(chain.states)  # an even start may lack the eigenvector looked for
    eigenvalues = eigs(
        matrix.tocsc(), k=min(3, chain.states - 2), sigma=1e-6 * scale, v0=start, return_eigenvectors=False
    )
    return complex(sorted(eigenvalues, key=lambda z: -z.real)[1])


@dataclass(frozen=True)
class _Swept:
    """What elimination from one side leaves of a level: rates within it, time spent, and rates to the target."""

    stay: Floats
    time: Floats
    out: Floats


def hitting_time(chain: RetryChain, start: tuple[int, int], target: Flags) -> float:
    """Mean seconds from `start` (level, phase) until a state of `target`, an array of truth by [level, phase]."""
    level, phase = start
    if target[level, phase]:
        return 0.0
    below, above = _absorbing(chain, target), _absorbing(chain, target)
    here = below[level]
    stay, time, out = here.stay, here.time, here.out
    for rest, order, to, back in (
        (below, range(level), chain.up, chain.down),
        (above, range(chain.levels - 1, level, -1), chain.down, chain.up),
    ):
        swept = _sweep(rest, order, (to, back), target)
        if swept is not None:
            stay, time, out = stay + swept.stay, time + swept.time, out + swept.out
    return _last(stay, time, out, phase)


def _absorbing(chain: RetryChain, target: Flags) -> list[_Swept]:
    """Each level by itself: rates among states that are not of the target, and the rate into it."""
    import numpy as np

    levels = []
    for q in range(chain.levels):
        out = chain.stay[q] @ target[q]
        if q > 0:
            out = out + chain.down[q] @ target[q - 1]
        if q + 1 < chain.levels:
            out = out + chain.up[q] @ target[q + 1]
        free = ~target[q]
        levels.append(_Swept(chain.stay[q] * free * free[:, None], free.astype(np.float64), out * free))
    return levels


def _sweep(rest: list[_Swept], order: range, blocks: tuple[Floats, Floats], target: Flags) -> _Swept | None:
    """Eliminate levels in order; what the last one adds to the level after it."""
    to, back = blocks
    added: _Swept | None = None
    step = order.step
    for q in order:
        level = rest[q]
        if added is not None:
            level = _Swept(level.stay + added.stay, level.time + added.time, level.out + added.out)
        free, beyond = ~target[q], ~target[q + step]
        onward = to[q] * free[:, None] * beyond
        returning = back[q + step] * beyond[:, None] * free
        visits = returning @ _visits(level, onward, target[q])
        added = _Swept(visits @ onward, visits @ level.time, visits @ level.out)
    return added


def _visits(level: _Swept, onward: Floats, absorbed: Flags) -> Floats:
    """Mean time in each phase of a level before it is left: the inverse of (what leaves - what stays), nonnegative."""
    import numpy as np

    stay = level.stay.copy()
    np.fill_diagonal(stay, 0.0)
    leaves = stay.sum(axis=1) + onward.sum(axis=1) + level.out + absorbed
    inverse = np.linalg.inv(np.diag(leaves) - stay)
    return np.asarray(np.maximum(inverse, 0.0), dtype=np.float64)


def _last(stay: Floats, time: Floats, out: Floats, start: int) -> float:
    """Mean time until `out` takes from one phase of the level that is left, state by state."""
    import numpy as np

    stay, time, out = stay.copy(), time.copy(), out.copy()
    order = [phase for phase in range(len(out)) if phase != start and time[phase] > 0]
    left = np.ones(len(out), dtype=bool)
    left[time <= 0] = False
    for phase in order:
        left[phase] = False
        leaves = stay[phase, left].sum() + out[phase]
        if leaves <= 0:
            continue
        share = np.where(left, stay[:, phase], 0.0) / leaves
        stay += np.outer(share, np.where(left, stay[phase], 0.0))
        time += share * time[phase]
        out += share * out[phase]
    return float(time[start] / out[start]) if out[start] > 0 else math.inf


def stationary(chain: RetryChain) -> Floats:
    """Long-run share of time in each state, by [level, phase]."""
    import numpy as np

    none = np.zeros((chain.levels, chain.phases), dtype=bool)
    rest = _absorbing(chain, none)
    visits: dict[int, Floats] = {}
    added: Floats | None = None
    for q in range(chain.levels - 1, 0, -1):
        level = rest[q] if added is None else _Swept(rest[q].stay + added, rest[q].time, rest[q].out)
        visits[q] = _visits(level, chain.down[q], none[q])
        added = chain.up[q - 1] @ visits[q] @ chain.down[q]
    shares = np.zeros((chain.levels, chain.phases))
    shares[0] = _closed(rest[0].stay if added is None else rest[0].stay + added)
    for q in range(1, chain.levels):
        shares[q] = shares[q - 1] @ chain.up[q - 1] @ visits[q]
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def _closed(stay: Floats) -> Floats:
    """Stationary shares of a small closed chain, state by state."""
    import numpy as np

    stay, n = stay.copy(), len(stay)
    for last in range(n - 1, 0, -1):
        leaves = stay[last, :last].sum()
        stay[:last, last] /= leaves if leaves > 0 else math.inf
        stay[:last, :last] += np.outer(stay[:last, last], stay[last, :last])
    shares = np.zeros(n)
    shares[0] = 1.0
    for state in range(1, n):
        shares[state] = shares[:state] @ stay[:state, state]
    return shares


class Mode(StrEnum):
    """What a watcher sees within the horizon."""

    HEALTHY = "healthy"  # only the low mode lasts
    METASTABLE = "metastable"  # both modes last: where it is depends on what happened
    COLLAPSED = "collapsed"  # only the high mode lasts
    RESTLESS = "restless"  # neither lasts: the chain wanders between them


@dataclass(frozen=True)
class Modes:
    """Mean times between the low and the high mode (s), the share of time in the high half, and the verdict."""

    low_to_high: float
    high_to_low: float
    congested: float
    mode: Mode

    def chance(self, time: float) -> float:
        """Probability that the low mode is left within `time` seconds (an exponential time, as of rare events)."""
        return -math.expm1(-time / self.low_to_high) if self.low_to_high > 0 else 1.0


def classify(low_to_high: float, high_to_low: float, *, horizon: float = HOUR) -> Mode:
    """Returns a mode lasts if the mean time to leave it exceeds the horizon of the watcher."""
    match low_to_high > horizon, high_to_low > horizon:
        case True, True:
            return Mode.METASTABLE
        case True, False:
            return Mode.HEALTHY
        case False, True:
            return Mode.COLLAPSED
    return Mode.RESTLESS


def modes(chain: RetryChain, low: Flags, high: Flags, *, horizon: float = HOUR) -> Modes:
    """From the empty corner until `high`, and from the full corner until `low`."""
    if low.shape != (chain.levels, chain.phases) or high.shape != low.shape:
        raise UsageError(f"a mode is an array of {chain.levels} levels by {chain.phases} phases")
    up = hitting_time(chain, (0, 0), high)
    down = hitting_time(chain, (chain.levels - 1, chain.phases - 1), low)
    share = float(stationary(chain)[chain.levels // 2 :].sum())
    return Modes(up, down, share, classify(up, down, horizon=horizon))
