"""Decides stability of a network of continuous blocks with exact delays.

Each strongly connected part is judged on its own, by two methods that must agree: an exact count of the roots right
of the axis (`winding`) and the rightmost roots themselves (`rightmost`).  Feedthrough around a loop with delay is
looked at first: where its difference operator grows, no finite count exists.  Nothing replaces a delay by a
rational function.  A large part without delays has finitely many roots, which are all enclosed instead.

    >>> from coherence.loops.networks.network import loop
    >>> verdict(loop([1.8], [1, 0.12, 9], delay=10)).verdict
    'unstable'
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from coherence.loops.networks.components import Characteristic, Complexes, root_doubt
from coherence.loops.networks.delayed_difference import difference_growth
from coherence.loops.networks.enclosed_roots import EnclosedRoots, enclosed_roots
from coherence.loops.networks.network import Network
from coherence.loops.networks.rightmost import contour_starts, generator_roots, multiplicity, polished, rightmost_starts
from coherence.loops.networks.winding import Count, count_right_of

AXIS = 1e-10  # half width, relative to frequency, of the strip in which a root counts as on the axis
BESIDE = 1e-6  # relative distance right of the rightmost root at which the confirming contour runs
OF_DECAY = 3e-3  # of the root's own decay or growth: a contour further off says too little of that number
CLIMBS = 6  # searches for roots that a count says are missing
NEARER = 4  # times less decay, along the next contour
NEXT_TO = 48  # places on a contour, from which roots beside it are sought
GAPS, WIDE = 4, 0.1  # behind the rightmost root, and which of them is wide, relative to its decay
MANY = 12  # roots right of those that were found, from which on they are sought beside contours
ORDER = ("unstable", "undecided", "marginal", "stable")


@dataclass(frozen=True)
class DelayVerdict:
    """What the closed loop does after a disturbance.

    `rightmost`: roots with the largest real part and Im >= 0, in 1/s, more than one only in a tie; empty if none
    is known.  `confirmed`: a count proves that none lies further right.  `unstable`: roots right of the axis (of
    -decay), None if not known.  `certified` says by what; `blocks` is the part that decides.
    """

    verdict: str
    reason: str
    rightmost: tuple[complex, ...] = ()
    unstable: int | None = None
    certified: str = ""
    confirmed: bool = False
    blocks: tuple[str, ...] = ()

    @property
    def stable(self) -> bool:
        return self.verdict == "stable"

    @property
    def abscissa(self) -> float:
        """Returns the largest real part, 1/s; minus infinity without any root, nan if not known."""
        return self.rightmost[0].real if self.rightmost else math.nan

    @property
    def period(self) -> float | None:
        """Returns the period of the rightmost root's oscillation in seconds; None without oscillation."""
        frequency = self.rightmost[0].imag if self.rightmost else 0.0
        return math.tau / frequency if frequency else None


def verdict(network: Network, *, decay: float = 0.0, confirm: bool = True) -> DelayVerdict:
    """Returns the verdict on all parts; with `decay`, every root must lie left of -decay (1/s).

    `confirm=False` leaves out the proof that the rightmost root is the rightmost: half the time, same verdict.
    """
    felt = Network(network.blocks, tuple(coupling for coupling in network.couplings if coupling.gain))
    parts = [part_verdict(part, decay=decay, confirm=confirm) for part in felt.components()]
    return combined(parts)


def combined(parts: Iterable[DelayVerdict]) -> DelayVerdict:
    """Combines verdicts: the worst part decides; the rightmost root is that of all parts."""
    ordered = sorted(parts, key=lambda part: ORDER.index(part.verdict))
    if not ordered:
        return DelayVerdict("stable", "there is nothing in the network", unstable=0, confirmed=True)
    counts = [part.unstable for part in ordered]
    known = [part for part in ordered if part.rightmost]
    top = max(known, key=lambda part: part.abscissa, default=ordered[0])
    return DelayVerdict(
        ordered[0].verdict,
        ordered[0].reason,
        top.rightmost,
        None if None in counts else sum(count or 0 for count in counts),
        ordered[0].certified,
        all(part.confirmed for part in ordered),
        ordered[0].blocks,
    )


def part_verdict(part: Network, *, decay: float = 0.0, confirm: bool = True) -> DelayVerdict:
    """Returns the verdict on one strongly connected part."""
    sampled = [block.name for block in part.blocks if block.rate is not None]
    if sampled:
        return _undecided(part, f"{', '.join(sampled)} is sampled: lift it to its period instead (multirate)")
    try:
        with np.errstate(all="ignore"):  # what overflows becomes infinite, and infinite bounds decide nothing
            return _judged(part, decay, confirm)
    except (np.linalg.LinAlgError, ValueError, OverflowError, ZeroDivisionError):
        return _undecided(part, f"the numbers of {', '.join(part.names[:6])} are too far apart for floating point")


def _judged(part: Network, decay: float, confirm: bool) -> DelayVerdict:
    char = Characteristic(part)
    if not part.couplings:
        alone = _alone(char, part, decay)
        if alone is not None:
            return alone
    enclosed = enclosed_roots(char)
    if enclosed is not None and (enclosed.radius < np.abs(enclosed.roots.real + decay)).all():
        return _enclosed(char, part, enclosed, decay)
    try:
        growth = difference_growth(char)
    except ZeroDivisionError:
        return _undecided(part, "an algebraic loop without delay has no solution")
    if growth.grows:
        return DelayVerdict("unstable", growth.reason, (), None, "difference operator", blocks=part.names)
    if not growth.decays:
        return _undecided(part, growth.reason)
    return _agreed(char, part, decay, confirm)


def _enclosed(char: Characteristic, part: Network, enclosed: EnclosedRoots, decay: float) -> DelayVerdict:
    """Returns the verdict on a part of which all roots are known, none of them within their radius of the line."""
    values, radius = enclosed
    right, ordered = int((values.real > -decay).sum()), values[np.argsort(-values.real)]
    top = _top(ordered[ordered.imag >= 0])
    confirmed = radius <= min(BESIDE * (abs(top[0]) + char.scale), OF_DECAY * abs(top[0].real))
    how = f"eigenvalues, each enclosed within {radius:.2g} 1/s"
    return DelayVerdict("unstable" if right else "stable", _where(right, decay), top, right, how, confirmed, part.names)


def _where(right: int, decay: float) -> str:
    line = f"{-decay:g}" if decay else "the axis"
    return f"{right} roots right of {line}" if right else f"no root right of {line}"


def _undecided(part: Network, reason: str, count: Count | None = None) -> DelayVerdict:
    return DelayVerdict("undecided", reason, unstable=count.roots if count else None, blocks=part.names)


def _alone(char: Characteristic, part: Network, decay: float) -> DelayVerdict | None:
    """Returns the verdict of a block in no loop from its poles;
    None where they are too near the line to be read off.
    """
    poles = char.poles[0]
    if not len(poles):
        return DelayVerdict("stable", "no states", (), 0, "poles of a block", confirmed=True, blocks=part.names)
    line, zeros = poles.real + decay, int((poles == 0).sum())
    others = line[poles != 0] if decay == 0 else line
    if np.any(np.abs(others) < 1e-6 * (np.abs(poles).max() + char.scale)) or (len(poles) > 8):
        return None
    if not _told_apart(part.blocks[0].denominator, poles, decay):
        return None
    right = int((others > 0).sum())
    top = tuple(complex(p.real, abs(p.imag)) for p in poles[np.argmax(poles.real)][None])
    kind, reason = "stable", "all poles of a block in no loop lie left of the line"
    if right:
        kind, reason = "unstable", "a block in no loop is unstable by itself"
    elif zeros and decay == 0:
        kind = "marginal" if zeros == 1 else "unstable"
        reason = "an integrator in no loop" if zeros == 1 else "repeated integrators in no loop"
    return DelayVerdict(kind, reason, top, right, "poles of a block", confirmed=True, blocks=part.names)


def _told_apart(denominator: tuple[float, ...], poles: Complexes, decay: float) -> bool:
    """Decides whether it is sure on which side of the line each pole lies, though its computed value is rounded.

    A pole lies in the union of disks of radius n |W|, W the Weierstrass correction.  Poles at 0 are exact.
    """
    moved = poles[poles != 0]
    doubt = root_doubt(denominator[: len(moved) + 1], moved)
    if not len(doubt):
        return True
    x = moved / doubt[0]
    apart = np.abs(x[:, None] - x) + np.eye(len(x))
    with np.errstate(divide="ignore"):
        radii = len(x) * np.polyval(doubt[1:], np.abs(x)) / apart.prod(axis=1)
    return bool(np.all(radii < np.abs(x.real + decay / doubt[0])))


def _agreed(char: Characteristic, part: Network, decay: float, confirm: bool) -> DelayVerdict:
    count = count_right_of(char, -decay)
    roots = _candidate_roots(char, count)
    if count.roots is None:
        if count.at is None:
            return _undecided(part, count.reason)
        return _on_axis(char, part, count, roots)
    if count.roots and not (roots.real > -decay).any():
        roots = _searched(char, roots)
    right = roots[roots.real > -decay]
    if count.roots == 0 and len(right):
        return _undecided(part, f"a root at {right[0]:.6g} is found where the count finds none", count)
    if count.roots and not len(right):
        return _undecided(part, f"{count.roots} roots are counted right of the line, none is found", count)
    roots, confirmed = _confirmed(char, roots, count) if confirm else (roots, False)
    kind = "unstable" if count.roots else "stable"
    how = f"argument principle in {count.segments} steps to {count.radius:.4g} rad/s, and polished roots"
    return DelayVerdict(kind, _where(count.roots, decay), _top(roots), count.roots, how, confirmed, part.names)


def _candidate_roots(char: Characteristic, count: Count) -> Complexes:
    """Returns polished roots from the generator, or from the contour where the generator is too large or says too
    little.
    """
    values = generator_roots(char)
    starts = [] if values is None else [rightmost_starts(values)]
    if (values is None or (count.roots and not (values.real > count.sigma).any())) and count.places is not None:
        starts.append(contour_starts(count.places, _given(count.logarithmic), most=12 if char.size > 20 else 24))
    if count.at is not None:
        starts.append(np.array([count.sigma + 1j * count.at]))
    return polished(char, np.concatenate(starts)) if starts else np.zeros(0, dtype=complex)


def _searched(char: Characteristic, roots: Complexes) -> Complexes:
    """Looks along contours ever further right, as long as they count roots."""
    line = char.scale / 10
    for _ in range(4 * CLIMBS):
        count = count_right_of(char, line)
        further = polished(char, np.concatenate([roots[:2], _more(count)]))
        if (further.real > 0).any() or not count.roots:
            return further
        line *= 2
    return roots


def _given(samples: Complexes | None) -> Complexes:
    return np.zeros(0, dtype=complex) if samples is None else samples


def _confirmed(char: Characteristic, roots: Complexes, count: Count) -> tuple[Complexes, bool]:
    """Returns the roots found, and whether the rightmost is proved to be.

    It is if as many are found as counted, right of the line or of one amid the next ones, or if a contour just right of
    it counts none: next to its decay, and not to its frequency, since the decay is what is printed.  Where that contour
    counts some, it says where to look for them.
    """
    if (count.roots and _are_all(char, roots, count)) or (len(roots) > 1 and _are_all(char, roots, _amid(char, roots))):
        return roots, True
    for _ in range(CLIMBS):
        if not len(roots):
            return roots, False
        distance = BESIDE * (abs(roots[0]) + char.scale)
        beside = count_right_of(char, roots[0].real + distance)
        if beside.roots == 0:
            near = OF_DECAY * abs(roots[0].real)
            return roots, distance <= near or count_right_of(char, roots[0].real + near).roots == 0
        if not count.roots and (beside.roots or 0) > MANY:
            better = _between(char, roots, beside.sigma, count.sigma)
        else:
            better = polished(char, np.concatenate([roots[:4], _more(beside)]))
        if better[0].real <= roots[0].real:
            return roots, False
        roots = better
    return roots, False


def _are_all(char: Characteristic, roots: Complexes, count: Count) -> bool:
    """Decides whether the roots that are counted right of a line are those that were found there."""
    right = roots[roots.real > count.sigma]
    return bool(count.roots and len(right)) and _number(char, right, count.roots or 0) == count.roots


def _amid(char: Characteristic, roots: Complexes) -> Count:
    """Counts right of a line amid the first wide gap among the first roots: far from roots few steps are needed."""
    line = roots.real[: GAPS + 1]
    gaps = line[:-1] - line[1:]
    wide = np.flatnonzero(gaps >= WIDE * abs(line[0]))
    first = int(wide[0]) if len(wide) else int(np.argmax(gaps))
    return count_right_of(char, float(line[first] + line[first + 1]) / 2)


def _between(char: Characteristic, roots: Complexes, low: float, high: float) -> Complexes:
    """Looks along contours between a line that has roots right of it and one that has none; ever nearer to the axis."""
    for _ in range(CLIMBS):
        line = low / NEARER if high == 0 else (low + high) / 2
        count = count_right_of(char, line)
        if count.roots is None:
            break
        if not count.roots:
            high = line
            continue
        low, further = line, polished(char, np.concatenate([roots[:1], _beside(count)]))
        if further[0].real > roots[0].real:
            return further
    return roots


def _beside(count: Count) -> Complexes:
    """Returns where Newton's step leads from the places on a contour that are next to a root."""
    places, slopes = _given(count.places), _given(count.logarithmic)
    usable = np.flatnonzero(np.isfinite(slopes) & (slopes != 0))
    next_to = usable[np.argsort(-np.abs(slopes[usable]))[:NEXT_TO]]
    return np.asarray(places[next_to] - 1 / slopes[next_to])


def _more(count: Count) -> Complexes:
    starts = contour_starts(_given(count.places), _given(count.logarithmic))
    return starts[starts.real > count.sigma][:12]


def _number(char: Characteristic, roots: Complexes, wanted: int) -> int:
    """Counts roots with their conjugates; where that is too few, with multiplicities by a small circle about each."""
    plain = int(sum(1 if root.imag == 0 else 2 for root in roots))
    if plain >= wanted or plain == 0 or wanted > plain + 4:
        return plain
    total = 0
    for root in roots:
        others = np.abs(roots - root)[roots != root]
        radius = min([1e-4 * (abs(root) + char.scale), *(others / 3), *([abs(root.imag) / 3] if root.imag else [])])
        around = multiplicity(char, complex(root), radius)
        total += round(around) * (1 if root.imag == 0 else 2) if abs(around - round(around)) < 0.1 else 0
    return total


def _top(roots: Complexes) -> tuple[complex, ...]:
    if not len(roots):
        return ()
    near = roots[0].real - 1e-9 * (abs(roots[0]) + 1e-300)
    return tuple(complex(root) for root in roots if root.real >= near)


def _on_axis(char: Characteristic, part: Network, count: Count, roots: Complexes) -> DelayVerdict:
    """Decides about a root next to the line by counts on both sides of a strip about it."""
    width = AXIS * (_at(count) + char.scale)
    right, left = count_right_of(char, count.sigma + width), count_right_of(char, count.sigma - width)
    if right.roots is None or left.roots is None:
        return _undecided(part, f"{count.reason}; {right.reason or left.reason}")
    how = f"argument principle on both sides of a strip of {2 * width:.2g} 1/s"
    if right.roots:
        kind = "unstable" if (roots.real > count.sigma).any() else "undecided"
        reason = f"{right.roots} roots right of {count.sigma:g}, and {left.roots - right.roots} next to the line"
        return DelayVerdict(kind, reason, _top(roots), right.roots, how, False, part.names)
    if left.roots == 0:
        return DelayVerdict("stable", "no root in the strip or right of it", _top(roots), 0, how, False, part.names)
    strip = roots[np.abs(roots.real - count.sigma) <= 2 * width]
    seen = int(sum(1 if root.imag == 0 else 2 for root in strip))
    return _in_strip(char, part, strip, (seen, left.roots), how)


def _in_strip(char: Characteristic, part: Network, strip: Complexes, counts: tuple[int, int], how: str) -> DelayVerdict:
    seen, counted = counts
    if seen == counted:
        reason = "roots on the axis within " + f"{AXIS:.0e} of their frequency, none right of it"
        return DelayVerdict("marginal", reason, _top(strip), 0, how, True, part.names)
    if len(strip) == 1 and abs(strip[0]) <= AXIS * char.scale:
        return _at_origin(char, part, counted, how)
    return _undecided(part, f"{counted} roots on the axis, of which {seen} are told apart")


def _at_origin(char: Characteristic, part: Network, counted: int, how: str) -> DelayVerdict:
    """Decides about a repeated root at 0: it grows like a power of t, unless it has as many independent modes."""
    p, _ = char.pencil(np.zeros(1, dtype=complex))
    modes = int((np.linalg.svd(p[0], compute_uv=False) < 1e-12).sum())
    kind = "marginal" if modes == counted else "unstable"
    reason = f"{counted} roots at 0 with {modes} independent mode{'s' if modes > 1 else ''}"
    return DelayVerdict(kind, reason, (0j,), 0, how, True, part.names)


def _at(count: Count) -> float:
    return count.at or 0.0
