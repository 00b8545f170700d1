"""Sampled loops x[k+1] = A x[k]: an exact verdict, and the dominant root to full double precision.

The verdict comes from exact root counts.  Floating point only starts the search for the dominant
root, which is then polished in fixed point and confirmed by an exact count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.errors import InternalError
from coherence.loops import sturm
from coherence.loops.polynomials import Matrix, RootCount, characteristic_polynomial, count_roots, minimal_polynomial
from coherence.loops.sturm import Poly

TIE = Fraction(1, 10**12)  # relative difference of modulus below which roots count as equally dominant
CONFIRMED = Fraction(1, 10**9)  # no root is larger than the reported one by more than this, relatively
TOLERANCE = Fraction(1, 10**6)
NEAR = 0.98  # floating-point roots down to this share of the largest are polished
SETTLED = 80  # binary places to which a polished root is proved to be one
EFFORTS = (0, 1, 4, 16)
ROUNDS = 100

Point = tuple[int, int]  # a complex number in fixed point: real and imaginary part times 2^bits


@dataclass(frozen=True, slots=True)
class Root:
    """A root modulus * exp(+-i angle), angle in [0, pi]; the modulus is good to about 25 digits."""

    modulus: Fraction
    angle: float


@dataclass(frozen=True, slots=True)
class SampledVerdict:
    """What x[k+1] = A x[k] does from every start.

    `stable`: True if every run decays to 0, False if some run grows without bound, None if neither:
    `marginal`, bounded without decay, where a linearisation decides nothing about the true law.
    `unstable` is `stable is False`; it includes repeated roots on the circle that let a run grow like
    a power of k.  `counts` are those of the characteristic polynomial.
    `modulus` (growth per step) and `angle` (radians per step, 0 to pi) are those of the dominant root;
    of equally large ones the slowest oscillation is taken.  `period` in steps is 2 pi / angle, None
    without oscillation.  `dead_beat`: the number of steps after which every run is exactly 0, or None.
    """

    stable: bool | None
    marginal: bool
    unstable: bool
    counts: RootCount
    modulus: float
    angle: float
    period: float | None
    dead_beat: int | None = None


def verdict(matrix: Matrix) -> SampledVerdict:
    """The verdict on x[k+1] = A x[k] for a square rational A; every entry is taken as exact.

    Raises ValueError if the matrix is not square.
    """
    polynomial = characteristic_polynomial(matrix)
    counts = count_roots(polynomial)
    grows = counts.outside > 0 or (counts.repeated_on and count_roots(minimal_polynomial(matrix)).repeated_on)
    nilpotent = not any(polynomial[1:])
    return _verdict(polynomial, counts, grows, len(minimal_polynomial(matrix)) - 1 if nilpotent else None)


def polynomial_verdict(coefficients: Sequence[Fraction | int]) -> SampledVerdict:
    """The verdict on the recurrence with this characteristic polynomial (highest degree first).

    A repeated root on the circle makes it unstable.  Raises ValueError for the zero polynomial.
    """
    counts = count_roots(coefficients)
    p = sturm.primitive(coefficients)
    return _verdict(p, counts, counts.outside > 0 or counts.repeated_on, None if any(p[1:]) else len(p) - 1)


def _verdict(
    polynomial: Sequence[Fraction | int], counts: RootCount, grows: bool, dead_beat: int | None
) -> SampledVerdict:
    marginal = not grows and counts.on > 0
    root = dominant_root(polynomial)
    return SampledVerdict(
        stable=False if grows else None if marginal else True,
        marginal=marginal,
        unstable=grows,
        counts=counts,
        modulus=1.0 if counts.on and not counts.outside else _as_float(root.modulus),
        angle=root.angle,
        period=math.tau / root.angle if root.angle else None,
        dead_beat=dead_beat,
    )


def _as_float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf


def dominant_root(polynomial: Sequence[Fraction | int]) -> Root:
    """The root of largest modulus, with non-negative imaginary part; 0 where there is no other root.

    Of roots within `TIE` of the largest modulus it is the one with the smallest positive angle.  An
    exact count confirms that no root is larger by more than `CONFIRMED`.
    """
    p = _distinct_non_zero(polynomial)
    if len(p) == 1:
        return Root(Fraction(0), 0.0)
    for effort in EFFORTS:
        roots = leading_roots(p, effort=effort)
        largest = max((root.modulus for root in roots), default=Fraction(0))
        if largest and all_within(p, largest * (1 + CONFIRMED)):
            tied = [root for root in roots if root.modulus >= largest * (1 - TIE)]
            return min(tied, key=lambda root: root.angle or math.inf)
    raise InternalError(f"the dominant root of a polynomial of degree {len(p) - 1} was not found")


def _distinct_non_zero(polynomial: Sequence[Fraction | int]) -> Poly:
    """The square-free polynomial with the non-zero roots."""
    p = sturm.square_free_part(sturm.primitive(polynomial))
    return p[:-1] if len(p) > 1 and p[-1] == 0 else p


def all_within(polynomial: Sequence[Fraction | int], radius: Fraction) -> bool:
    """Whether every root has a modulus smaller than radius (> 0); exact."""
    counts = count_roots([c * radius**-k for k, c in enumerate(polynomial)])
    return counts.on == counts.outside == 0


def delayed_integrator(gain: Fraction | int, delay_steps: int) -> tuple[Fraction, ...]:
    """z^(d+1) - z^d + k: the characteristic polynomial of x[k+1] = x[k] - gain * x[k - d].

    Stable for 0 < gain < 2 sin(pi / (2 (2d + 1))), where it oscillates with period 2 (2d + 1) steps.
    SOURCE: Levin & May 1976, A note on difference-delay equations.  Raises ValueError for negative d.
    """
    if delay_steps < 0:
        raise ValueError(f"delay_steps(={delay_steps}) must be >= 0")
    coefficients = [Fraction(0)] * (delay_steps + 2)
    coefficients[0] = Fraction(1)
    coefficients[1] -= 1
    coefficients[-1] += gain
    return tuple(coefficients)


def companion(coefficients: Sequence[Fraction | int]) -> tuple[tuple[Fraction, ...], ...]:
    """The companion matrix of a polynomial (highest degree first, leading coefficient not 0)."""
    lead, n = Fraction(coefficients[0]), len(coefficients) - 1
    first = tuple(-c / lead for c in coefficients[1:])
    return (first, *(tuple(Fraction(i == j) for j in range(n)) for i in range(n - 1))) if n else ()


def spectral_radius_bound(matrix: Matrix, *, tolerance: Fraction = TOLERANCE) -> Fraction:
    """A rational r >= the spectral radius of A, at most a factor 1/(1 - tolerance) above it; proved by exact counts.

    r < 1 exactly where all roots lie inside the unit circle, r = 1 exactly where the spectral radius
    is 1, r = 0 where A is nilpotent.  As a contraction factor: |A^k| <= C r^k for all k with some C
    that depends on A, if r is larger than the spectral radius (always, but for 0 and 1).
    """
    return root_radius_bound(characteristic_polynomial(matrix), tolerance=tolerance)


def root_radius_bound(polynomial: Sequence[Fraction | int], *, tolerance: Fraction = TOLERANCE) -> Fraction:
    """As `spectral_radius_bound`, of the roots of a polynomial."""
    p = _distinct_non_zero(polynomial)
    if len(p) == 1:
        return Fraction(0)
    counts = count_roots(p)
    if counts.outside == 0 and counts.on:
        return Fraction(1)
    inside = counts.outside == 0
    low, high = (Fraction(0), Fraction(1)) if inside else (Fraction(1), _cauchy_bound(p))
    probes = _probes(p, tolerance)
    while high - low > tolerance * high or (inside and high == 1):
        probe = probes.pop() if probes else (low + high) / 2
        if low < probe < high:
            low, high = (low, probe) if all_within(p, probe) else (probe, high)
    return high


def _cauchy_bound(p: Poly) -> Fraction:
    """Larger than the modulus of every root."""
    return 1 + Fraction(max(map(abs, p)), abs(p[0]))


def _probes(p: Poly, tolerance: Fraction) -> list[Fraction]:
    """Two short rationals on both sides of the largest modulus that the floating point search sees."""
    guess = max((root.modulus for root in leading_roots(p)), default=Fraction(0))
    if guess == 0:
        return []
    grain = guess * tolerance / 16
    exponent = grain.denominator.bit_length() - grain.numerator.bit_length() + 1  # 2^-exponent < grain
    unit = Fraction(2) ** -exponent
    return [math.floor(guess * (1 - tolerance / 4) / unit) * unit, math.ceil(guess * (1 + tolerance / 4) / unit) * unit]


def leading_roots(p: Poly, *, effort: int = 0) -> list[Root]:
    """Roots of a square-free p with p(0) != 0 that look largest in floating point, polished; [] where one resists.

    With z = 2^exponent y all coefficients of the monic polynomial in y are at most 1 in size.
    `effort` 0 polishes the largest only; above 0 all roots, with effort times the usual precision.
    """
    import numpy

    lead, n = p[0], len(p) - 1
    exponent = max(-((lead.bit_length() - c.bit_length() - 1) // k) for k, c in enumerate(p) if k and c)
    scaled = [Fraction(c, lead) / Fraction(2) ** (exponent * k) for k, c in enumerate(p)]
    starts: list[complex] = numpy.roots([float(a) for a in scaled]).tolist()
    bits = (2 * SETTLED + 4 * n) * max(effort, 1)
    least = NEAR * max(map(abs, starts))
    chosen = [i for i, z in enumerate(starts) if effort or (abs(z) >= least and z.imag >= 0)]
    fixed = [round(a * 2**bits) for a in scaled]
    points = _polished(fixed, starts, chosen, bits)
    return [_root(point, exponent, bits) for point in points] if all(_near_root(fixed, z, bits) for z in points) else []


def _root(point: Point, exponent: int, bits: int) -> Root:
    x, y = point[0], abs(point[1])
    modulus = Fraction(math.isqrt(x * x + y * y)) * Fraction(2) ** (exponent - bits)
    real = y >> (bits - SETTLED) == 0
    return Root(modulus, math.atan2(0 if real else y / (1 << bits), x / (1 << bits)))


def _near_root(p: Poly, z: Point, bits: int) -> bool:
    """Whether some root lies within 2^-SETTLED of z: the disc of radius n |f/f'| holds one, rounding included."""
    n = len(p) - 1
    f, slope = _evaluated(p, z, bits)
    noise = n << (n + 5)  # in Horner's rule for |z| <= 2, in units of 2^-bits
    distance, steepness = math.isqrt(f[0] ** 2 + f[1] ** 2) + 1 + noise, math.isqrt(slope[0] ** 2 + slope[1] ** 2) - noise
    return steepness > 0 and (n * distance) << SETTLED < steepness and max(map(abs, z)) >> (bits + 1) == 0


def _polished(p: Poly, starts: Sequence[complex], chosen: Sequence[int], bits: int) -> list[Point]:
    """The chosen points after Aberth's iteration; coinciding starts are pushed apart first."""
    points = [(_fixed(z.real, bits) + (i << (bits - 50)), _fixed(z.imag, bits)) for i, z in enumerate(starts)]
    moving = list(chosen)
    for _ in range(ROUNDS):
        still = []
        for i in moving:
            dx, dy = _aberth(p, points, i, bits)
            points[i] = (points[i][0] - dx, points[i][1] - dy)
            if max(abs(dx), abs(dy)) >> (bits - SETTLED - 20):
                still.append(i)
        moving = still
        if not moving:
            break
    return [points[i] for i in chosen]


def _fixed(x: float, bits: int) -> int:
    return round(Fraction(x) * 2**bits)


def _aberth(p: Poly, points: Sequence[Point], i: int, bits: int) -> Point:
    """The step f / (f' - f S) at point i, with S the sum of 1 / (z_i - z_j): Newton's, repelled by the other points.

    SOURCE: Aberth 1973, Iteration methods for finding all zeros of a polynomial simultaneously.
    """
    z = points[i]
    f, slope = _evaluated(p, z, bits)
    push = (0, 0)
    for j, other in enumerate(points):
        if j != i:
            push = _add(push, _over((1 << bits, 0), (z[0] - other[0], z[1] - other[1]), bits))
    x, y = _times(f, push, bits)
    return _over(f, (slope[0] - x, slope[1] - y), bits)


def _evaluated(p: Poly, z: Point, bits: int) -> tuple[Point, Point]:
    """f(z) and f'(z)."""
    f, slope = (0, 0), (0, 0)
    for c in p:
        slope = _add(_times(slope, z, bits), f)
        f = _add(_times(f, z, bits), (c, 0))
    return f, slope


def _add(a: Point, b: Point) -> Point:
    return a[0] + b[0], a[1] + b[1]


def _times(a: Point, b: Point, bits: int) -> Point:
    return (a[0] * b[0] - a[1] * b[1]) >> bits, (a[0] * b[1] + a[1] * b[0]) >> bits


def _over(a: Point, b: Point, bits: int) -> Point:
    """a / b; 0 where b is 0."""
    size = b[0] * b[0] + b[1] * b[1]
    if size == 0:
        return 0, 0
    return ((a[0] * b[0] + a[1] * b[1]) << bits) // size, ((a[1] * b[0] - a[0] * b[1]) << bits) // size
