"""Device-seconds in each exclusive state: t[b, d, s] over batches of time, and whether they add up.

Labels: the states of `ledger_states`, with `useful` written as `useful.<class>` for each class of work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.base.places import Place
from coherence.causal.data.series import Excluded, Floats
from coherence.causal.ledger.capacity import Fleet
from coherence.causal.ledger.states import SLOWED, UNLABELLED, USEFUL, Column, columns

ROUNDING = 1e-9  # of provisioned device-seconds: sums of floats, never a loss


@dataclass(frozen=True)
class Times:
    """`seconds[b, d, s]` device-seconds of batch b; `windows[b]` seconds; `source`: the file or signals they are from.

    `excluded`: what of the telemetry took no part.  `broken`: facts that the numbers contradict.
    """

    fleet: Fleet
    seconds: Floats  # (B, D, S)
    windows: Floats  # (B,)
    source: str = "<ledger>"
    excluded: tuple[Excluded, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def window(self) -> float:
        """Seconds in all."""
        return float(self.windows.sum())

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each state."""
        return layout(self.fleet.classes)


@cache
def expanded(classes: tuple[str, ...]) -> tuple[Column, ...]:
    """The column of each label: `useful` once for each class."""
    return tuple(c for column in columns() for c in [column] * (len(classes) if column.name == USEFUL else 1))


@cache
def layout(classes: tuple[str, ...]) -> tuple[str, ...]:
    """Every label, in the order of precedence."""
    names = (column.name for column in columns())
    return tuple(
        label for name in names for label in ([f"{USEFUL}.{k}" for k in classes] if name == USEFUL else [name])
    )


def useful(fleet: Fleet) -> slice:
    """Where the columns of useful work stand, class by class."""
    first = layout(fleet.classes).index(f"{USEFUL}.{fleet.classes[0]}")
    return slice(first, first + len(fleet.classes))


def times(
    fleet: Fleet, seconds: Mapping[str, Mapping[str, float]], window: float, *, source: str = "<ledger>"
) -> Times:
    """Times of one window from `seconds[device][state]`; states left out take none.  Raises UsageError, InputError."""
    if not (np.isfinite(window) and window > 0):
        raise UsageError(f"window(={window!r}) must be a finite number of seconds > 0")
    labels = layout(fleet.classes)
    device_seconds = np.zeros((1, len(fleet.devices), len(labels)))
    problems = []
    for device, row in seconds.items():
        for state, amount in row.items():
            wrong = _unknown(device, fleet.devices, "device") or _unknown(state, labels, "state")
            if not wrong and not np.isfinite(amount):
                wrong = (f"{state} of {device} is {amount!r}", "give a finite number of device-seconds")
            if wrong:
                problems.append(Problem(Place(source, 1, 1, 1, 1), *wrong))
            else:
                device_seconds[0, fleet.devices.index(device), labels.index(state)] += amount
    if problems:
        raise InputError(problems)
    return Times(fleet, device_seconds, np.array([float(window)]), source)


def _unknown(name: str, known: tuple[str, ...], what: str) -> tuple[str, str] | None:
    return None if name in known else (f"unknown {what} '{name}'", did_you_mean(name, known))


def unbalanced(given: Times, *, rounding: float = ROUNDING) -> tuple[Problem, ...]:
    """Each device whose states do not add up to N * T, with what is missing or in surplus."""
    return tuple(_unbalanced(given, rounding))


def _unbalanced(given: Times, rounding: float) -> Iterator[Problem]:
    provisioned = given.fleet.count * given.window
    over = given.seconds.sum(axis=(0, 2)) - provisioned
    for device, surplus, whole in zip(given.fleet.devices, over, provisioned, strict=True):
        if abs(surplus) > rounding * max(whole, given.window):
            sort = "in surplus" if surplus > 0 else "missing"
            message = (
                f"the states of {device} add up to {whole + surplus:.12g} device-seconds of {whole:.12g}:"
                f" {abs(surplus):.6g} {sort}"
            )
            yield Problem(Place(given.source, 1, 1, 1, 1), message, _remedy(surplus, device))


def _remedy(surplus: float, device: str) -> str:
    if surplus > 0:
        return f"two states of {device} count the same time: log one state at a time, or give intervals"
    return f"log the state that {device} is in then, or count the rest as '{UNLABELLED}'"


def with_rest_unlabelled(given: Times) -> Times:
    """The same, with what is missing to N * T of each batch counted as `unlabelled`; a surplus stays."""
    missing = given.fleet.count * given.windows[:, None] - given.seconds.sum(axis=2)
    seconds = given.seconds.copy()
    seconds[:, :, given.labels.index(UNLABELLED)] += np.maximum(missing, 0.0)
    return Times(given.fleet, seconds, given.windows, given.source, given.excluded, given.broken)


def with_work(given: Times, work: Floats) -> Times:
    """The same with `useful` set to what the finished work needs alone, W / r, and the rest of it `slowed`.

    `work[b, d, k]` or `work[d, k]` (one batch): work units finished in time, first result, used.  Work that took less
    time than it needs alone leaves a negative `slowed`, which is kept, and told in `broken`.
    """
    fleet, done = given.fleet, np.asarray(work, float)
    done = done[None] if done.ndim == 2 else done
    place = useful(fleet)
    if done.shape != given.seconds[:, :, place].shape:
        raise UsageError(f"work of shape {done.shape} does not fit {given.seconds[:, :, place].shape}")
    held = given.seconds[:, :, place]
    need = np.divide(done, fleet.rate, out=held * (done == 0) * 0.0, where=fleet.rate > 0)
    seconds = given.seconds.copy()
    seconds[:, :, place] = need
    seconds[:, :, given.labels.index(SLOWED)] += (held - need).sum(axis=2)
    broken = (*given.broken, *_too_fast(fleet, done.sum(axis=0), held.sum(axis=0)))
    return Times(fleet, seconds, given.windows, given.source, given.excluded, broken)


def _too_fast(fleet: Fleet, done: Floats, held: Floats) -> Iterator[str]:
    for d, k in np.ndindex(*done.shape):
        rate, seconds, units = fleet.rate[d, k], held[d, k], done[d, k]
        if units > rate * seconds * (1 + ROUNDING):
            seen = f"{units / seconds:.6g}" if seconds else "any"
            yield (
                f"assumption violated: r[{fleet.devices[d]},{fleet.classes[k]}] = {rate:.6g} per device-second, but"
                f" {units:.6g} units were finished in {seconds:.6g} useful device-seconds ({seen} per device-second);"
                " check the isolated rate, the count of finished work, and its deadline"
            )
