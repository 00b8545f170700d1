"""Decides by the header what the columns of a table are: the time, and signals wide (columns) or long (rows).

Wide: one column of time, every other column a signal.  Long: a column that names the signal (signal, metric, name) and
one with its value (value); `unit`, `kind` and `source` are what they say, and further columns are labels, which become
part of the name: `cpu{pod="a"}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coherence.base.errors import InputError, Problem, did_you_mean
from coherence.causal.telemetry.problems import problem, quoted

TIMES = ("time", "timestamp", "ts", "datetime", "date_time", "date", "epoch", "t")
NAMES, VALUES = ("signal", "metric", "metric_name", "__name__", "series", "name"), ("value", "val")
FACTS = ("unit", "kind", "source")
_UNIT = re.compile(r"[ _(\[]+(s|secs?|seconds|ms|millis|milliseconds|us|micros|ns|nanos|nanoseconds|utc|unix)[)\]]?$")


@dataclass(frozen=True)
class HeaderLayout:
    """Positions of columns.  `signal` None: wide.  `signals`: position -> name (wide); `labels`: the same (long)."""

    time: int
    signal: int | None = None
    level: int | None = None
    signals: Mapping[int, str] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    facts: Mapping[str, int] = field(default_factory=dict)

    @property
    def form(self) -> str:
        return "wide" if self.signal is None else "long"


def layout(file: object, header: Sequence[str], *, time: str | None = None, long: bool | None = None) -> HeaderLayout:
    """What the columns are.  `time` names the column of time, `long` decides the form; else the header does.

    Raises InputError where no column tells the time, or two columns have one name.
    """
    plain = [_plain(name) for name in header]
    time_column = _time(header, plain, time)
    problems = [*_unclear(file, header, time_column, time), *_twice(file, header, time_column)]
    if problems:
        raise InputError(problems)
    assert time_column is not None
    name, level = _first(plain, NAMES), _first(plain, VALUES)
    if long is None:
        long = name is not None and level is not None
    if not long:
        return HeaderLayout(time_column, signals={i: text for i, text in enumerate(header) if i != time_column})
    if name is None or level is None:
        missing = "the signal's name" if name is None else "its value"
        raise InputError([problem(file, 1, f"a long table needs a column of {missing}", "call it signal, or value")])
    facts = {fact: plain.index(fact) for fact in FACTS if fact in plain}
    taken = {time_column, name, level, *facts.values()}
    return HeaderLayout(
        time_column, name, level, labels={i: t for i, t in enumerate(header) if i not in taken}, facts=facts
    )


def labelled(name: str, labels: Mapping[str, str]) -> str:
    """`name{k="v"}` with sorted labels and quotes escaped, as Prometheus writes it; the bare name without labels."""
    if not labels:
        return name
    text = ",".join(f'{key}="{_escaped(labels[key])}"' for key in sorted(labels))
    return f"{name}{{{text}}}"


def signal_and_labels(name: str) -> tuple[str, str]:
    """Returns `name` and `{k="v"}` apart; the labels are empty where there are none."""
    signal, brace, labels = name.partition("{")
    return (signal, brace + labels) if signal and labels.endswith("}") else (name, "")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _plain(name: str) -> str:
    text = name.strip().strip("@_ ").casefold() if name.strip() != "__name__" else name.strip()
    return _UNIT.sub("", text) if _UNIT.sub("", text) in TIMES else text


def _first(plain: Sequence[str], words: Sequence[str]) -> int | None:
    return next((plain.index(word) for word in words if word in plain), None)


def _time(header: Sequence[str], plain: Sequence[str], time: str | None) -> int | None:
    if time is not None:
        return header.index(time) if time in header else None
    return _first(plain, TIMES)


def _unclear(file: object, header: Sequence[str], time_column: int | None, time: str | None) -> list[Problem]:
    if time_column is not None:
        return []
    if time is not None:
        return [problem(file, 1, f"no column is called {quoted(time)}", did_you_mean(time, header))]
    shown = ", ".join(quoted(name) for name in header[:6]) + (", ..." if len(header) > 6 else "")
    remedy = f"call it one of {', '.join(TIMES)}, or say which it is (time=)"
    return [problem(file, 1, f"no column tells the time; the columns are {shown}", remedy)]


def _twice(file: object, header: Sequence[str], time_column: int | None) -> list[Problem]:
    places: dict[str, list[int]] = {}
    for index, name in enumerate(header):
        places.setdefault(name, []).append(index + 1)
    problems = [
        problem(file, 1, f"columns {' and '.join(map(str, at))} are both called {quoted(name)}", "rename all but one")
        for name, at in places.items()
        if len(at) > 1 and name != ""
    ]
    bare = [at for at in places.get("", []) if at - 1 != time_column]
    problems += [problem(file, 1, f"column {at} has no name", "give it one, or take it out") for at in bare]
    return problems[:20]
