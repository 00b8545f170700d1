"""Reads promises on figures of runs (percentiles, means, shares of requests) and judges them by their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.number_text import render_measured
from coherence.language.expressions.tree import MIRRORED, Call, Compare, Name, Number, Tree
from coherence.language.words import COUNTS, STATES
from coherence.simulate.study.readings import QUANTILES

if TYPE_CHECKING:
    from coherence.language.design import Design
    from coherence.language.sentences import Promise
    from coherence.simulate.study.repeated_runs import StudyReading

Key = tuple[str, str, str]
LATENCY = ("latency", "response_time", "sojourn", "duration")
SHARES = ("success", "succeed", "availability", "success_rate")
PRINTED = "?"  # the unit of a figure that is told by the name under which runs print it
SCALES = {"%": 100.0, "/h": 3600.0}  # of a number in SI to the units of such figures
SYNONYMS = {"waiting": STATES["waiting"], "servers": (*COUNTS["available"], *STATES["wanted"])}
FIGURES = ("quantile", "mean", "tail")


@dataclass(frozen=True)
class FigureLimit:
    """A figure of runs, by its key, compared with a number in the unit of the figure."""

    key: Key
    op: str
    limit: float


def threshold_of(design: Design, promise: Promise) -> FigureLimit | str | None:
    """Returns the threshold that a promise is, why runs have no such figure, or None where it is about no figure."""
    tree = promise.condition.tree if promise.condition is not None and promise.kind == "always" else None
    if not isinstance(tree, Compare):
        return None
    left, op, right = tree.left, tree.op, tree.right
    if isinstance(left, Number):
        left, op, right = right, MIRRORED.get(op, op), left
    of = _figure(left)
    if of is None:
        return None
    if not isinstance(right, Number) or op not in ("<", "<=", ">", ">="):
        return "a figure of runs is compared with a number, by <= or >="
    path, kind, share = of
    thing, _, signal = path.partition(".")
    if kind == "mean" and signal and signal not in LATENCY:
        return FigureLimit((thing, signal, PRINTED), op, float(right.value))
    source = _source(design, thing)
    if source is None:
        return f"runs have the latency of the requests of a workload: write it of one that calls {thing}"
    return _threshold(source, (signal, kind, share), op, right.value)


def _figure(tree: Tree) -> tuple[str, str, Fraction] | None:
    """Returns the signal, the figure of it, and the share or time that the figure is for."""
    match tree:
        case Call(function="quantile" | "tail" as kind, arguments=(Name(path=path), Number(value=share))):
            return path, kind, share
        case Call(function="mean", arguments=(Name(path=path),)):
            return path, "mean", Fraction(0)
        case Name(path=path) if path.partition(".")[2] in SHARES:
            return path, "share", Fraction(0)
    return None


def _source(design: Design, thing: str) -> str | None:
    """Returns the workload whose requests a thing's latency is that of: itself, or the one that calls nothing else."""
    if thing in design.workload:
        return thing
    callers = {call.caller.text for call in design.calls if call.caller and call.callee and call.callee.text == thing}
    own = next(iter(callers)) if len(callers) == 1 else ""
    calls = [call for call in design.calls if call.caller and call.caller.text == own]
    alone = len(calls) == 1 and not calls[0].tries and calls[0].hedge_after is None
    return own if own in design.workload and alone else None


def _threshold(source: str, figure: tuple[str, str, Fraction], op: str, limit: Fraction) -> FigureLimit | str:
    signal, kind, share = figure
    if kind == "share":
        return FigureLimit((source, "succeed", "%"), op, 100 * float(limit))
    if signal not in LATENCY:
        return f"runs have no distribution of {source}.{signal}: their figures are of its latency"
    if kind == "tail":  # P(T > t) <= 1 - q where the quantile q is at most t
        kind, share, limit, op = "quantile", 1 - limit, share, {"<": "<=", ">": ">="}.get(op, op)
    if kind == "mean":
        return FigureLimit((source, "mean", "s"), op, float(limit))
    percent = 100 * share
    if percent not in QUANTILES:
        known = ", ".join(f"{q} %" for q in QUANTILES)
        return f"runs have the percentiles {known}, and not that of {float(percent):g} %"
    return FigureLimit((source, f"P{percent}", "s"), op, float(limit))


def judged_threshold(
    threshold: FigureLimit, readings: Mapping[Key, StudyReading]
) -> tuple[bool | None, str, StudyReading | None]:
    """Returns whether a threshold is kept (None: the runs cannot tell), why, and the figure with its interval."""
    if threshold.key[2] == PRINTED:
        key = _printed(threshold.key, readings)
        if isinstance(key, str):
            return None, key, None
        threshold = FigureLimit(key, threshold.op, threshold.limit * SCALES.get(key[2], 1.0))
    reading, (of, what, unit) = readings.get(threshold.key), threshold.key
    if reading is None:
        return None, f"the runs do not have {what} of {of}: too few of its requests were answered", None
    unanswered = _unanswered(threshold, readings)
    if unanswered is not None:
        return (*unanswered, readings[of, "succeed", "%"])
    words = f"{what} of {of} is {render_measured(reading.value, unit)}"
    upper = threshold.op in ("<", "<=")
    if reading.more_than:
        broken = upper and reading.value > threshold.limit
        return (False if broken else None), f"{words} or more: requests were not answered", reading
    if reading.low is None or reading.high is None:
        why = f"too short to tell: {reading.too_short}" if reading.too_short else "no interval: make more runs (--runs)"
        return None, f"{words}; {why}", reading
    words += f" [{render_measured(reading.low, unit)}, {render_measured(reading.high, unit)}]"
    low, high = _holds(threshold, reading.low), _holds(threshold, reading.high)
    if low != high:
        return None, f"{words}, and the limit lies inside the interval: make more or longer runs", reading
    return low, words, reading


def _printed(wanted: Key, readings: Mapping[Key, StudyReading]) -> Key | str:
    """Returns the key of the figure that runs print of a thing under a name; else why there is none."""
    thing, signal, _ = wanted
    of = [key for key in readings if thing in key[0].split(" -> ")]
    name = next((name for name, words in SYNONYMS.items() if signal in words), signal)
    keys = [key for key in of if key[1].replace(" ", "_") == name]
    if len(keys) == 1:
        return keys[0]
    if keys:
        return f"{thing} has several calls: write it of one of {', '.join(key[0] for key in keys)}"
    known = dict.fromkeys(key[1].replace(" ", "_") for key in of if not key[1].startswith("P"))
    return f"runs print no {signal} of {thing}" + (f", but {', '.join(known)}" if known else "")


def _unanswered(threshold: FigureLimit, readings: Mapping[Key, StudyReading]) -> tuple[bool | None, str] | None:
    """Returns what is known of a percentile that may lie among requests without an answer; None where it does not.

    Those that fail take longer than every answer.
    """
    of, what, _ = threshold.key
    succeed = readings.get((of, "succeed", "%"))
    if not what.startswith("P") or threshold.op not in ("<", "<=") or succeed is None:
        return None
    percent = float(what[1:])
    low, high = (succeed.value if end is None else end for end in (succeed.low, succeed.high))
    message = (
        f"{render_measured(succeed.value, '%')} of the requests of {of} succeed, so that their {what} is no answer"
    )
    if high < percent:
        return False, message
    return (None, message) if low < percent else None


def _holds(threshold: FigureLimit, value: float) -> bool:
    limit = threshold.limit
    return {"<": value < limit, "<=": value <= limit, ">": value > limit, ">=": value >= limit}[threshold.op]
