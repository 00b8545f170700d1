"""Checks that a state of a watch has the types, lengths and ranges that the watch writes, before anything is built."""

from __future__ import annotations

import math
from collections.abc import Callable

from coherence.watching.twin_grid import GAMMAS

Shape = Callable[[object, str], None]
LATEST = 1e11  # s since 1970
LARGEST = 1e150  # a square of which is a float


def _refuse(value: object, at: str, wanted: str) -> None:
    text = repr(value)
    raise ValueError(f"{at or 'all'} is {text if len(text) <= 30 else text[:30] + '...'} and no {wanted}")


def number(value: object, at: str) -> None:
    """Takes what sums and products of measured amounts are; nan and infinity, too."""
    if not isinstance(value, int | float) or isinstance(value, bool) or LARGEST < abs(value) < math.inf:
        _refuse(value, at, "number")


def above_zero(value: object, at: str) -> None:
    """Takes a float above 0, of any size."""
    if not isinstance(value, float) or not value > 0:
        _refuse(value, at, "number above 0")


def moment(value: object, at: str) -> None:
    """Takes a time (s since 1970)."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= LATEST:
        _refuse(value, at, "time")


def evidence(value: object, at: str) -> None:
    """Takes a float from 0 on, of any size."""
    if not isinstance(value, float) or not value >= 0:
        _refuse(value, at, "evidence")


def count(value: object, at: str) -> None:
    """Takes a whole number from 0 to 2^53."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 2**53:
        _refuse(value, at, "count")


def text(value: object, at: str) -> None:
    """Takes a text that can be encoded."""
    if not isinstance(value, str) or value != value.encode(errors="replace").decode():
        _refuse(value, at, "text")


def mark(value: object, at: str) -> None:
    """Takes the name of the command, without which the file is not overwritten."""
    if value != "coherence watch":
        _refuse(value, at, "'coherence watch'")


def flag(value: object, at: str) -> None:
    """Takes true and false."""
    if not isinstance(value, bool):
        _refuse(value, at, "truth value")


def absent_or(shape: Shape) -> Shape:
    """Returns the shape that also takes null."""
    return lambda value, at: shape(value, at) if value is not None else None


def series(of: Shape, *lengths: int, least: int = 0) -> Shape:
    """Returns the shape of a list, of one of these lengths where there are any."""

    def shape(value: object, at: str) -> None:
        if not isinstance(value, list) or len(value) < least or (lengths and len(value) not in lengths):
            wanted = " or ".join(map(str, lengths)) if lengths else f"at least {least}"
            _refuse(value, at, f"list of {wanted}")
        else:
            for place, part in enumerate(value):
                of(part, f"{at}.{place}")

    return shape


def table(of: Shape) -> Shape:
    """Returns the shape of a mapping of any names."""

    def shape(value: object, at: str) -> None:
        if not isinstance(value, dict):
            _refuse(value, at, "mapping")
        else:
            for name, part in value.items():
                text(name, at)
                of(part, f"{at}.{name}")

    return shape


def record(**parts: Shape) -> Shape:
    """Returns the shape of a mapping of exactly these names."""

    def shape(value: object, at: str) -> None:
        if not isinstance(value, dict) or value.keys() != parts.keys():
            _refuse(value, at, f"mapping of {', '.join(parts)}")
        else:
            for name, of in parts.items():
                of(value[name], f"{at}.{name}".removeprefix("."))

    return shape


def _as_many_twins(value: object, at: str) -> None:
    """Takes the state of a workload whose scrapes all have their twins."""
    BLOCK_SHAPE(value, at)
    for part in ("twins", "waiting"):
        if isinstance(value, dict) and len(value["rows"]) != len(value[part]):
            _refuse(len(value[part]), f"{at}.{part}", f"list of {len(value['rows'])}, as many as rows")


TWIN = series(number, len(GAMMAS))
ALERT = {"kind": text, "of": text, "since": moment, "message": text}
BLOCK_SHAPE = record(
    present=TWIN, rows=series(series(number, 6)), twins=series(series(TWIN, 2)), waiting=series(number),
    records=series(record(
        time=moment, rate=number, p99=number, slowdown=number, useful=number, held=number, offered=number,
        in_time=number, waves=series(number, 6), twins=series(number, 0, len(GAMMAS)), waits=number,
    )),
    waves=series(number, 6), burst=number, begun=number, usual=number,
)  # fmt: skip
STATE = record(
    written_by=mark, version=count, step=above_zero, system=text, queries=table(text),
    last=absent_or(moment), scrapes=count, blocks=table(_as_many_twins), signals=table(series(number)),
    periods=table(record(share=number, period=number, amplitude=number)),
    detectors=table(record(
        threshold=above_zero, least=count, reference=series(series(number, 2)), evidence=evidence, p_value=number,
        active=flag, calm=count,
    )),
    alerts=table(record(**ALERT)), opened=table(count), hours=table(series(series(number, 2), least=1)),
    values=table(number), waiting=series(record(system=text, state=text, time=moment, **ALERT)), errors=count,
)  # fmt: skip
