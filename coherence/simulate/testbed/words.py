"""Renders a reproduction: observation beside prediction, as a table and for programs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coherence.simulate.requests.program import Route
from coherence.simulate.testbed.observe import RULE, Measures
from coherence.simulate.testbed.predict import Prediction
from coherence.simulate.testbed.reproduction import Observation
from coherence.simulate.testbed.set_up import RunTiming, SetUp

Row = tuple[str, str, str, str]
ROWS = {"before": "before the trigger", "during": "during it", "after": "after it", "end": "in the last quarter"}


@dataclass(frozen=True)
class Reproduction:
    """What was run (`design`: its path; `proxy`: its name and protocol), what was seen, and what was predicted."""

    design: str
    proxy: str
    setup: SetUp
    timing: RunTiming
    observed: Observation
    predicted: Prediction

    @property
    def agrees(self) -> bool:
        """Is the observed verdict the predicted one?"""
        return self.observed.measures.verdict == self.predicted.measures.verdict


def text(reproduction: Reproduction) -> str:
    """Returns a table, the rule, and what was assumed."""
    setup, timing, observed, predicted = (
        reproduction.setup,
        reproduction.timing,
        reproduction.observed,
        reproduction.predicted,
    )
    trigger = f"a pause of {timing.pause:g} s" if timing.pause else "the burst of the design"
    run = f"{timing.lasts:g} s, {trigger} after {timing.before:g} s, seed {timing.seed}"
    lines = [
        f"{reproduction.design} on {reproduction.proxy}: {run}",
        _setting(setup),
        "",
        *_table(list(_rows(observed, predicted))),
        "",
        f"rule: {_rule(predicted)}",
        f"verdict: {RULE}",
    ]
    if predicted.near_edge:
        lines.append("near the edge: fresh draws give the other verdict; --runs 6 makes several runs")
    if observed.disturbed:
        lines.append(f"disturbed: {observed.disturbed}; run it again on a quieter machine")
    lines += ["", "Assumed:", *(f"  {note}" for note in setup.notes)] if setup.notes else []
    return "\n".join(lines) + "\n"


def _setting(setup: SetUp) -> str:
    service, route = setup.station.service, setup.route
    workers = f"{setup.station.servers} workers of {1000 * service.mean:g} ms serve {setup.capacity:g} req/s"
    hops = "".join(f", {_tries(hop)}, each" for hop in setup.hops)
    return f"{workers}; {setup.rate:g} req/s come{hops}, {_tries(route)}"


def _tries(route: Route) -> str:
    if route.hedge_after < math.inf:
        return (
            f"of one try within {1000 * route.deadline:g} ms, and a second copy after {1000 * route.hedge_after:g} ms"
        )
    return f"of {route.tries} tries of {1000 * route.per_try:g} ms each"


def _rows(observed: Observation, predicted: Prediction) -> Iterator[Row]:
    seen, foretold = observed.measures, predicted.measures
    yield "", "observed", "predicted", "fresh draws"
    yield "verdict", seen.verdict, foretold.verdict, _verdicts(predicted.others)
    yield "recovery", _seconds(seen.recovery), _seconds(foretold.recovery), _span(predicted.recovery, _seconds)
    for key, words in ROWS.items():
        spread = _span(predicted.span(key), _factor)
        yield (
            f"tries per request {words}",
            _factor(seen.windows[key].tries),
            _factor(foretold.windows[key].tries),
            spread,
        )
    for key, words in ROWS.items():
        yield f"success {words}", _share(seen.windows[key].success), _share(foretold.windows[key].success), ""
    for index, words in enumerate(("median", "P99")):
        yield f"{words} before the trigger", _seconds(seen.latency[index]), _seconds(foretold.latency[index]), ""


def _verdicts(measures: Sequence[Measures]) -> str:
    """Returns how many end in each way."""
    counts = Counter(one.verdict for one in measures)
    return ", ".join(f"{verdict} {count} of {len(measures)}" for verdict, count in sorted(counts.items()))


def _table(rows: list[Row]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _rule(predicted: Prediction) -> str:
    rule = predicted.rule
    load = f"{rule.load:.4g} tries/s when every try times out, {rule.capacity:.4g} can be served"
    delay = "" if math.isnan(rule.delay) else f"; the trigger delays by {rule.delay:.3g} s"
    return f"{load}{delay}: {rule.verdict or 'undecided'} ({rule.why})"


def _span(ends: tuple[float, float], show: Callable[[float], str]) -> str:
    low, high = (show(end) for end in ends)
    return low if low == high else f"{low} .. {high}"


def _seconds(value: float) -> str:
    if math.isnan(value):
        return "-"
    return "never" if math.isinf(value) else f"{1000 * value:.0f} ms" if 0 < value < 1 else f"{value:.2f} s"


def _factor(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.1f} %"


def as_json(reproduction: Reproduction) -> dict[str, Any]:
    """Returns the same for programs; seconds, and null where something never comes or has no value."""
    timing, observed, predicted = reproduction.timing, reproduction.observed, reproduction.predicted
    rule = predicted.rule
    return {
        "design": reproduction.design,
        "with": reproduction.proxy,
        "seconds": timing.lasts,
        "trigger": {"pause": timing.pause, "after": timing.before},
        "seed": timing.seed,
        "agrees": reproduction.agrees,
        "observed": {
            **_measures(observed.measures),
            "outcomes of tries": dict(observed.outcomes),
            "lateness": dict(observed.lateness),
            "disturbed": observed.disturbed,
        },
        "predicted": {
            **_measures(predicted.measures),
            "near the edge": predicted.near_edge,
            "fresh draws": [_measures(one) for one in predicted.others],
            "rule": {key: _number(getattr(rule, key)) for key in ("load", "capacity", "delay", "recovery")}
            | {"verdict": rule.verdict, "why": rule.why},
        },
        "assumptions": list(reproduction.setup.notes),
    }


def _measures(measures: Measures) -> Mapping[str, Any]:
    windows = {
        name: {"requests": window.requests, "tries": _number(window.tries), "success": _number(window.success)}
        for name, window in measures.windows.items()
    }
    median, high = map(_number, measures.latency)
    recovery = _number(measures.recovery)
    return {
        "verdict": measures.verdict,
        "recovery": recovery,
        "windows": windows,
        "latency before": {"median": median, "p99": high},
    }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
