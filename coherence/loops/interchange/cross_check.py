"""Lays a linear verdict beside what python-control computes of the same network, at small size.

Without delays: its poles.  With delays: its count of encirclements of the exact response, a little right of the axis,
and its poles with Pade approximations, which prove nothing and are shown because engineers use them.  Sampled systems
of one rate: its poles of the discretised plant with delays as shifts.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.interchange.python_control import python_control, state_space
from coherence.loops.interchange.single_rate import closed_single_rate
from coherence.loops.multirate.sampled_system import Multirate, multirate
from coherence.loops.networks.network import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Complexes = NDArray[np.complex128]

MOST_BLOCKS, MOST_POINTS = 30, 200_000
PADE = (2, 4, 6)
NEAR = 1e-6  # relative distance from the axis or the circle within which a pole in floating point decides nothing
SHIFT = 1e-5  # of the slowest rate: how far right of the axis encirclements are counted
STEP = 0.5  # rad: the largest turn between two points that are counted


@dataclass(frozen=True)
class SecondOpinion:
    """What python-control says by one `method`; `approximate`: of another system than the one that was judged."""

    method: str
    verdict: str
    detail: str
    approximate: bool = False


@dataclass(frozen=True)
class CrossCheck:
    """Our verdict on `name` beside second opinions; `reason` says why there is none."""

    name: str
    verdict: str
    opinions: tuple[SecondOpinion, ...]
    reason: str = ""

    @property
    def differs(self) -> bool:
        """Decides whether an opinion on the same system contradicts ours."""
        return any(self.contradicts(opinion) for opinion in self.opinions if not opinion.approximate)

    def contradicts(self, opinion: SecondOpinion) -> bool:
        return {self.verdict, opinion.verdict} == {"stable", "unstable"}

    def render(self) -> Iterator[str]:
        """Yields a line for each opinion."""
        if not self.opinions:
            yield f"cross-check {self.name}: none by python-control: {self.reason}"
        for opinion in self.opinions:
            both = (
                f"we say {self.verdict}, python-control says {opinion.verdict} by {opinion.method} ({opinion.detail})"
            )
            agreement = "agreement" if self.verdict == opinion.verdict else "neither confirmed nor denied"
            if self.contradicts(opinion):
                agreement = "disagreement of an approximation" if opinion.approximate else "DISAGREEMENT"
            yield f"cross-check {self.name}: {agreement}: {both}"

    def to_dict(self) -> dict[str, Any]:
        """Returns it for programs."""
        opinions = [{**vars(opinion), "contradicts": self.contradicts(opinion)} for opinion in self.opinions]
        return {"of": self.name, "verdict": self.verdict, "opinions": opinions, "reason": self.reason}


def cross_checked(name: str, system: Network | Multirate, verdict: str) -> CrossCheck:
    """Returns our verdict on a system beside python-control's."""
    if len(system.blocks) > MOST_BLOCKS:
        return CrossCheck(name, verdict, (), f"more than {MOST_BLOCKS} blocks")
    try:
        return CrossCheck(name, verdict, tuple(_opinions(system)))
    except UsageError as error:
        return CrossCheck(name, verdict, (), str(error))


def _opinions(system: Network | Multirate) -> Iterator[SecondOpinion]:
    if isinstance(system, Multirate) or any(block.rate for block in system.blocks):
        rates = multirate(system) if isinstance(system, Network) else system
        closed, step = closed_single_rate(rates)
        largest = float(np.abs(closed.poles()).max(initial=0.0))
        detail = f"largest modulus {largest:.6g} each {step:g} s"
        yield SecondOpinion("poles of the discretised loop", _side(largest - 1, 1.0), detail)
    elif not any(block.delay for block in system.blocks):
        yield _by_poles("poles", state_space(system).poles())
    else:
        yield _by_encirclements(system)
        for order in PADE:
            yield _by_poles(
                f"Pade approximations of order {order}", state_space(system, pade=order).poles(), approximate=True
            )


def _by_poles(method: str, poles: Complexes, *, approximate: bool = False) -> SecondOpinion:
    if not len(poles):
        return SecondOpinion(method, "stable", "no pole", approximate)
    right = poles[np.argmax(poles.real)]
    turning = f" +- {abs(right.imag):.6g}j" if right.imag else ""
    return SecondOpinion(method, _side(right.real, abs(right)), f"rightmost {right.real:.6g}{turning} 1/s", approximate)


def _side(beyond: float, scale: float) -> str:
    if abs(beyond) <= NEAR * scale:
        return "undecided"
    return "unstable" if beyond > 0 else "stable"


def _by_encirclements(system: Network) -> SecondOpinion:
    """Counts roots right of a line close to the axis: encirclements by det(I - G K) and right poles of the blocks."""
    control, line = python_control(), _Line(system)
    response = control.frd(line.values - 1, line.omega)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        around = control.nyquist_response(response).count
    roots = int(around + line.right)
    detail = f"{roots} roots right of {line.shift:.3g} 1/s"
    return SecondOpinion("encirclements of the exact response", "unstable" if roots > 0 else "stable", detail)


class _Line:
    """det(I - G K) at shift + j omega, as finely as its phase needs; `right`: poles of the blocks right of the line."""

    def __init__(self, system: Network) -> None:
        self.system = system
        poles = np.concatenate([np.roots(block.denominator) for block in system.blocks]).astype(complex)
        delays = [block.delay for block in system.blocks if block.delay]
        rates = [*np.abs(poles[poles != 0]), *(1 / delay for delay in delays)]
        self.shift = SHIFT * min(rates)
        self.right = int((poles.real > self.shift).sum())
        self.gains = np.zeros((len(system.blocks),) * 2)
        for coupling in system.couplings:
            self.gains[system.index[coupling.target], system.index[coupling.source]] += coupling.gain
        top = self._top(max(rates))
        even = max(2, int(top * sum(delays) / STEP * 4))
        if even > MOST_POINTS:
            raise UsageError(f"its count needs {even} frequencies, more than {MOST_POINTS}")
        spread = np.geomspace(self.shift / 100, top, 20_000)
        self.omega = np.unique(np.concatenate([[0.0], spread, np.linspace(0, top, even)]))
        self.values = self._at(self.omega)
        self._refine()

    def _top(self, fastest: float) -> float:
        """Returns a frequency beyond which the loops are small."""
        top = 10 * fastest
        for _ in range(60):
            g = np.array([np.abs(block.at(np.array([1j * top]))[0]) for block in self.system.blocks])
            if np.abs(np.linalg.eigvals(g[:, None] * np.abs(self.gains))).max() < 0.05:  # bounds every loop
                return top
            top *= 2
        raise UsageError("its count needs a loop that vanishes at high frequency: here feedthrough goes round")

    def _at(self, omega: Any) -> Complexes:
        g = np.stack([block.at(self.shift + 1j * omega) for block in self.system.blocks], axis=1)
        return np.asarray(np.linalg.det(np.eye(len(self.gains)) - g[:, :, None] * self.gains))

    def _refine(self) -> None:
        """Halves intervals in which the phase turns further than a step."""
        for _ in range(40):
            turns = np.abs(np.angle(self.values[1:] / self.values[:-1]))
            wide = np.flatnonzero(~(turns <= STEP))
            if not len(wide):
                return
            if len(self.omega) + len(wide) > MOST_POINTS:
                break
            middles = (self.omega[wide] + self.omega[wide + 1]) / 2
            self.omega = np.insert(self.omega, wide + 1, middles)
            self.values = np.insert(self.values, wide + 1, self._at(middles))
        raise UsageError("its response turns too fast to be counted: a root lies next to the axis")


def render(checks: Sequence[CrossCheck]) -> str:
    """Renders all opinions, those that contradict ours first."""
    ordered = sorted(checks, key=lambda check: not check.differs)
    return "".join(f"{line}\n" for check in ordered for line in check.render())
