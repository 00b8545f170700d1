"""Relaxation of queues: exact gap of M/M/c against the pole of its fluid model.

The fluid pole is what a linearised design uses; near saturation it is up to four times too fast, so a loop
designed on it meets a queue that answers more slowly than it thinks.
SOURCE: Morse 1955, Stochastic properties of waiting lines; Cohen, The Single Server Queue, II.2;
Rider 1976 (pointwise stationary fluid flow: dL/dt = lam - mu L / (1 + L)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from coherence.base.errors import UsageError

MOST_STATES = 1_000_000


@dataclass(frozen=True)
class Relaxation:
    """Of a stable M/M/1 queue: `gap` of the exact generator and `fluid` pole of its fluid model, both 1/s."""

    load: float
    gap: float
    fluid: float

    @property
    def ratio(self) -> float:
        """Returns how many times faster the fluid model relaxes than the queue: (1 + sqrt(load))^2, below 4."""
        return -self.fluid / self.gap

    @property
    def time_constant(self) -> float:
        """Returns seconds in which what is left of a disturbance falls by e, exact."""
        return 1 / self.gap


def relaxation(arrivals: float, service: float) -> Relaxation:
    """Returns the M/M/1 of `arrivals` and `service` per second: gap mu (1 - sqrt rho)^2, fluid pole -mu (1 - rho)^2."""
    rho = _load(arrivals, service, 1)
    return Relaxation(rho, service * (1 - math.sqrt(rho)) ** 2, -service * (1 - rho) ** 2)


def fluid_pole(arrivals: float, service: float) -> float:
    """Returns the derivative of lam - mu L / (1 + L) at its rest point L = rho / (1 - rho), 1/s."""
    rho = _load(arrivals, service, 1)
    length = rho / (1 - rho)
    return -service / (1 + length) ** 2


def numeric_gap(arrivals: float, service: float, *, servers: int = 1, states: int = 4000) -> float:
    """Returns the gap of the M/M/c generator cut off at `states` - 1 waiting or served, 1/s;
    from above, as pi^2 / states^2.

    A birth-death generator is similar to a symmetric tridiagonal matrix; its largest eigenvalue is 0.
    """
    from scipy.linalg import eigvalsh_tridiagonal

    _load(arrivals, service, servers)
    if not servers < states <= MOST_STATES:
        raise UsageError(f"{states} states: give more than the {servers} servers and at most {MOST_STATES}")
    births = np.full(states - 1, float(arrivals))
    deaths = service * np.minimum(np.arange(1, states), servers)
    diagonal = -(np.append(births, 0.0) + np.append(0.0, deaths))
    ends = (states - 2, states - 2)
    return float(-eigvalsh_tridiagonal(diagonal, np.sqrt(births * deaths), select="i", select_range=ends)[0])


def gap(arrivals: float, service: float, *, servers: int = 1) -> float:
    """Returns the relaxation gap of M/M/c, 1/s: closed form for one server, else from two cut-offs extrapolated.

    The cut-off errs as the square of 1 / states where the spectrum is continuous (near saturation).
    """
    if servers == 1:
        return relaxation(arrivals, service).gap
    coarse, fine = (numeric_gap(arrivals, service, servers=servers, states=servers + n) for n in (2000, 4000))
    return fine - (coarse - fine) / 3 if coarse - fine > 1e-9 * fine else fine


def autocorrelation(arrivals: float, service: float, lags: np.ndarray, *, states: int = 800) -> np.ndarray:
    """Returns the correlation of the stationary M/M/1 queue length over time lags in s, from the generator's
    spectrum.
    """
    from scipy.linalg import eigh_tridiagonal

    rho = _load(arrivals, service, 1)
    weights = rho ** np.arange(states)
    weights /= weights.sum()
    diagonal = -np.full(states, float(arrivals + service))
    diagonal[0], diagonal[-1] = -arrivals, -service
    rates, modes = eigh_tridiagonal(diagonal, np.full(states - 1, math.sqrt(arrivals * service)))
    lengths = np.arange(states) - weights @ np.arange(states)
    parts = (modes.T @ (np.sqrt(weights) * lengths)) ** 2
    covariance = np.exp(np.multiply.outer(np.asarray(lags, dtype=float), rates)) @ parts
    return np.asarray(covariance / parts.sum())


def _load(arrivals: float, service: float, servers: int) -> float:
    if not (arrivals > 0 and service > 0 and servers >= 1):
        raise UsageError(f"arrivals {arrivals:g}/s, service {service:g}/s, servers {servers}: all must be > 0")
    rho = arrivals / (service * servers)
    if rho >= 1:
        raise UsageError(f"the load is {rho:.3g}: a queue has no rest point from 1 on; give it more service")
    return rho
