"""Places the starts of runs that look for limit cycles: at rest on every scale, or in a first-harmonic oscillation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from coherence.loops.cycles.delayed_runs import Pending, Start, start_at
from coherence.loops.cycles.describing_functions import Guess
from coherence.loops.cycles.relay import Array, Element, Pieces, System

SAMPLES, HARMONICS, PHASE = 512, 100, 0.6  # of a screened swing, followed from this angle


def default_starts(system: System) -> tuple[Start, ...]:
    """Returns rest positions whose outputs lie at several scales on either side of the thresholds."""
    _, _, c, _ = system.matrices
    scale, middle = _scale(system)
    towards = np.linalg.pinv(c)
    rng = np.random.default_rng(20)
    starts = []
    for size in (0.05, 0.3, 0.7, 1.2, 2.0, 5.0, 20.0):
        for sign in (1, -1) if size < 3 else (1,):
            signs = sign * (1.0 if len(c) == 1 else rng.choice([-1.0, 1.0], len(c)))
            x = towards @ (middle + size * scale * signs) + 0.2 * size * rng.normal(size=system.size) * np.max(scale)
            starts.append(start_at(system, x, above=sign < 0))
    return tuple(starts)


def beside(system: System, guesses: Sequence[Guess]) -> Iterator[Start]:
    """Yields swings somewhat smaller and larger than the largest screened ones."""
    for guess in sorted(guesses, key=lambda guess: -guess.amplitude)[:2]:
        for factor in (0.6, 1.6):
            yield sinusoidal_start(system, Guess(guess.bias, guess.amplitude * factor, guess.period))


def _scale(system: System) -> tuple[Array, Array]:
    """Returns (size of a typical swing, middle of the thresholds) for each element."""
    a, b, c, _ = system.matrices
    sizes, middles = [], []
    for index, element in enumerate(system.elements):
        near = _thresholds(element)
        delay = max(system.rise[index], system.fall[index])
        middles.append(float(np.median(near)) if near else 0.0)
        speed = float(np.max(np.abs(np.linalg.eigvals(a)))) or (1 / delay if delay else 1.0)
        step = _step(element)
        pushed = float(np.max(np.abs(c[index]) @ np.abs(b))) * step * max(delay, 1 / speed)
        spread = float(np.ptp(near)) / 2 if len(near) > 1 and not element.endless else _gap(near)
        sizes.append(max(spread, 0.3 * min(pushed, 10 * spread) if spread else pushed) or 1.0)
    return np.array(sizes), np.array(middles)


def _thresholds(element: Element) -> list[float]:
    return sorted(element.knots if isinstance(element, Pieces) else {*element.up, *element.down})


def _gap(near: Sequence[float]) -> float:
    gaps = [b - a for a, b in itertools.pairwise(near) if b > a]
    return float(np.median(gaps)) if gaps else 0.0


def _step(element: Element) -> float:
    if isinstance(element, Pieces):
        return max((abs(k) * max(map(abs, element.slopes)) for k in element.knots), default=0.0) or 1.0
    steps = np.diff(element.levels)
    return float(np.median(np.abs(steps)) if element.endless else np.max(np.abs(steps)))


def sinusoidal_start(system: System, guess: Guess) -> Start:
    """Returns the plant in the swing that one element keeps up if it sees a sinusoid, commands on their way
    included.
    """
    element, delay = system.elements[0], max(system.rise[0], system.fall[0])
    angle = PHASE + 2 * math.pi * np.arange(SAMPLES) / SAMPLES
    inputs = guess.bias + guess.amplitude * np.sin(angle)
    level = np.zeros(SAMPLES, dtype=int)
    for _, at, new, _ in _passed(element, np.tile(inputs, 2), 2 * SAMPLES):
        level[at % SAMPLES :] = new
    x = _periodic_state(system, guess, _outputs(element, level, inputs))
    turns = math.ceil(delay / guess.period) + 1
    step = guess.period / SAMPLES
    passed = _passed(element, np.tile(inputs, turns), turns * SAMPLES)
    begin = -turns * guess.period
    waiting = [(begin + at * step, new, (system.rise if up else system.fall)[0]) for _, at, new, up in passed]
    late = [(t + wait, new) for t, new, wait in waiting if t + wait > 0]
    pending = tuple(Pending(due, 0, new, k - len(late)) for k, (due, new) in enumerate(late))
    acted = [new for t, new, wait in waiting if t + wait <= 0]
    seen = waiting[-1][1] if waiting else element.level(float(inputs[0]))
    held = acted[-1] if acted else seen
    instead = _settled(element, seen, float(system.matrices[2][0] @ x))
    return Start(np.append(x, 1.0), (instead,), (held if delay else instead,), pending)


def _settled(element: Element, level: int, y: float) -> int:
    """Returns the level that an element comes to from `level` while its input stays at y."""
    low, high = element.bounds(level)
    if low <= y <= high:
        return level
    return _settled(element, level + (1 if y > high else -1), y)


def _outputs(element: Element, level: npt.NDArray[np.int_], inputs: Array) -> Array:
    slopes = np.array([line_of(element, int(k))[0] for k in level])
    return np.asarray(slopes * inputs + np.array([line_of(element, int(k))[1] for k in level]))


def line_of(element: Element, level: int) -> tuple[float, float]:
    """Returns (slope, intercept) of an output at a level."""
    if isinstance(element, Pieces):
        return element.slopes[level], element.intercepts[level]
    return 0.0, element.levels[level]


def _periodic_state(system: System, guess: Guess, outputs: Array) -> Array:
    """Returns the state at time 0 of the plant under a periodic input, delayed; its mean input holds the bias."""
    a, b, c, drift = system.matrices
    harmonics = np.fft.fft(outputs)[1:HARMONICS] * (2 / SAMPLES)
    s = 2j * math.pi / guess.period * np.arange(1, HARMONICS)
    inputs = harmonics * np.exp(-s * (system.rise[0] + system.fall[0]) / 2)
    states = np.linalg.solve(s[:, None, None] * np.eye(len(a)) - a, b[None, :, :1] * inputs[:, None, None])
    balance = np.vstack([np.hstack([a, b[:, :1]]), np.append(c[0], 0.0)])
    mean = np.linalg.lstsq(balance, np.append(-drift, guess.bias), rcond=None)[0][:-1]
    return np.asarray(mean + np.real(states.sum(axis=0)[:, 0]))


def _passed(element: Element, inputs: Array, count: int) -> list[tuple[int, int, int, bool]]:
    """Returns (before, sample, new level, upwards) of every change of level along sampled inputs."""
    level = element.level(float(inputs[0]))
    changes = []
    for at in range(count):
        y = float(inputs[at])
        low, high = element.bounds(level)
        while not low <= y <= high:
            up = y > high
            changes.append((level, at, level + (1 if up else -1), up))
            level = changes[-1][2]
            low, high = element.bounds(level)
    return changes
