"""Lists the seven figures by which operators judge a service, before and after: answers, waits, use, timeouts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, reproduced, rounded, table
from coherence.reporting.pictures.markup import Child
from coherence.simulate.study.readings import SUCCEED, Key, Sample
from coherence.simulate.study.repeated_runs import Study, StudyReading, interval

ORDER, TITLE = 65, "Operating figures"
Named = tuple[str, str]  # a thing, and what of it is told
PERCENTILES = ("P50", "P95", "P99")
WORDS = (
    "Percentiles are of all requests that arrive: what is refused or given up is longer than every answer. Answered: "
    "within the deadline that the workload states, if it states one; an agreement with another threshold is a promise "
    "of the design. Mean wait: of all tries sent there, by Little's law. Effective utilisation: the busy share without "
    "what is served for callers that have left."
)


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns the figures of both designs on the same chances; what is missing where no request runs."""
    runs = assessment.runs
    after = None if runs.study is None else _figures(runs.study)
    if not after:
        return (note(f"Not computed: {runs.refused or 'no request is served in a run of this design'}."),)
    before = _figures(runs.before) if runs.before is not None else None
    shown = _alone(after) if before is None else _beside(before, after)
    both = [assessment.before[0], "--against"] if assessment.before and before is not None else []
    again = ["diff", "--since", assessment.since] if assessment.since else ["simulate", *both]
    options = () if assessment.since else runs.command
    return (shown, note(WORDS), reproduced(*again, assessment.path, *options))


def _alone(figures: Mapping[Named, StudyReading]) -> Child:
    rows = [(*key, _shown(reading), reading.unit) for key, reading in figures.items()]
    return table("Figures of runs", ("of", "figure", "value (95 %)", "unit"), rows, numbers="2")


def _beside(before: Mapping[Named, StudyReading], after: Mapping[Named, StudyReading]) -> Child:
    pairs = [(key, before.get(key), after.get(key)) for key in dict.fromkeys((*before, *after))]
    rows = [(*key, _shown(old), _shown(new), _change(old, new), _unit(old, new)) for key, old, new in pairs]
    header = ("of", "figure", "before (95 %)", "after (95 %)", "change", "unit")
    return table("Figures of runs on the same chances", header, rows, numbers="2 3 4")


def _figures(study: Study) -> dict[Named, StudyReading]:
    """Returns each figure by what it is of and what it is."""
    readings = {(reading.of, reading.what): reading for reading in study.readings}
    figures: dict[Named, StudyReading] = {}
    workloads = [of for of, what in readings if what == "arrive"]
    for name in workloads:
        percentiles = {what: readings[name, what] for what in PERCENTILES if (name, what) in readings}
        answered = {"answered": readings[name, SUCCEED]} if (name, SUCCEED) in readings else {}
        figures |= {(name, what): reading for what, reading in {**percentiles, **answered}.items()}
    figures |= {(of, "timeouts of tries"): one for (of, what), one in readings.items() if what == "time out"}
    for name in [of for of, what in readings if what == "busy"]:
        for what, unit, values in _of_station(name, study.samples, workloads):
            if values is not None:
                figures[name, what] = StudyReading(name, what, unit, *interval(values))
    return figures


def _of_station(
    name: str, samples: Sequence[Sample], workloads: Sequence[str]
) -> Iterator[tuple[str, str, list[float] | None]]:
    """Yields a figure of a station, its unit and its value in each run; None where a run does not show it."""
    waits = [_wait(name, sample, workloads) for sample in samples]
    yield "mean wait", "s", [wait for wait in waits if wait is not None] if None not in waits else None
    busy = [sample.get((name, "busy", "%")) for sample in samples]
    vain = [sample.get((name, "served in vain", "%"), 0.0) for sample in samples]
    known = [share for share in busy if share is not None]
    if len(known) == len(samples):
        yield "nominal utilisation", "%", known
        pairs = zip(known, vain, strict=True)
        yield "effective utilisation", "%", [share * (1 - lost / 100) for share, lost in pairs]


def _wait(name: str, sample: Mapping[Key, float], workloads: Sequence[str]) -> float | None:
    """Returns the mean wait of a try (s) by Little's law; None where not all callers of a station are workloads."""
    sent = 0.0
    for of, what, _ in sample:
        caller, _, callee = of.partition(" -> ")
        if what == "sends per call" and callee == name:
            if caller not in workloads:
                return None
            sent += sample[caller, "arrive", "/s"] * sample[of, what, ""]
    waiting = sample.get((name, "waiting", "req"))
    return waiting / sent if sent and waiting is not None else None


def _shown(reading: StudyReading | None) -> str:
    if reading is None:
        return "-"
    ends = (reading.low, reading.high)
    within = "" if ends[0] is None or ends[1] is None else f" [{rounded(ends[0], 3)}, {rounded(ends[1], 3)}]"
    return f"{'more than ' if reading.more_than else ''}{rounded(reading.value)}{within}"


def _change(before: StudyReading | None, after: StudyReading | None) -> str:
    if before is None or after is None or before.more_than or after.more_than:
        return "-"
    return rounded(after.value - before.value, sign=True)


def _unit(before: StudyReading | None, after: StudyReading | None) -> str:
    return next((reading.unit for reading in (after, before) if reading is not None), "")
