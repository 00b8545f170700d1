"""Runs designs from Python: requests, loops and jobs over time, each number with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.number_text import render_seconds
from coherence.base.watchdog import current_run
from coherence.checking.workspace import Entry
from coherence.door.quantities import Amount, exact_values, seconds
from coherence.door.result import VerbResult, drawn_of, frame, head, listed
from coherence.door.sources import Source, entry_of, name_of
from coherence.findings.finding import NotRead
from coherence.simulate.study.course import CourseCurve
from coherence.simulate.study.repeated_runs import JudgedPromise, Study, StudyReading
from coherence.simulate.study.seed_results import ALONE, Labour
from coherence.simulate.study.setting import Setting

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, repr=False)
class StudyResult(VerbResult):
    """Runs of one design, or of two on the same chances.

    `to_frame()` has a row for each figure: design, of, what, unit, mean, low, high (95 % interval over independent
    runs), and with a second design `difference`, `difference_low`, `difference_high` (second minus first).
    """

    studies: tuple[Study, ...] = field(compare=False)
    names: tuple[str, ...] = field(compare=False)
    entries: tuple[Entry, ...] = field(compare=False)
    unread: tuple[tuple[NotRead, ...], ...] = field(compare=False)
    difference: tuple[StudyReading, ...] = field(compare=False)
    columns: ClassVar[tuple[str, ...]] = ("design", "of", "what", "unit", "mean", "low", "high")
    changes: ClassVar[tuple[str, ...]] = ("difference", "difference_low", "difference_high")

    def to_frame(self) -> DataFrame:
        """Returns the figures, a row for each: design, of, what, unit, mean, low, high.

        mean: over the runs, in the unit of the row; low, high: its 95 % interval, None where there is none.  With a
        second design also the difference and its interval.
        """
        return frame(self._rows(), (*self.columns, *(self.changes if len(self.studies) > 1 else ())))

    def series(self, signal: str) -> DataFrame:
        """Returns a quantity of the first run over time: index time_s, a column for each design.

        signal: what the run draws, such as "workers.queue"; values in SI units.
        Raises UsageError with the names that there are.
        """
        import pandas as pd

        curves = {name: self._curves(study).get(signal) for name, study in zip(self.names, self.studies, strict=True)}
        if not any(curves.values()):
            names = [name for study in self.studies for name in self._curves(study)]
            raise UsageError(
                f"these runs have no series '{signal}': {did_you_mean(signal, names) or listed(names, '')}"
            )
        columns = {name: pd.Series(c.values, index=c.times).groupby(level=0).last() for name, c in curves.items() if c}
        return pd.DataFrame(columns).ffill().rename_axis("time_s")

    def causes(self) -> DataFrame:
        """Returns the true causes of what failed in the first run of the first design, a row for each.

        time_s, loss, cause, amount and its unit.
        """
        from coherence.simulate.study.recording import telemetry

        recorded = telemetry(self.entries[0].design, self._setting())
        rows = ({"time_s": c.time, "loss": c.loss, "cause": c.cause, "amount": c.amount, "unit": c.unit}
                for c in recorded.causes)  # fmt: skip
        return frame(rows, ("time_s", "loss", "cause", "amount", "unit"))

    def telemetry(self) -> DataFrame:
        """Returns what the first run of the first design showed, for `fit`.

        Index time_s, a column for each signal, values in SI units.
        """
        import pandas as pd

        from coherence.simulate.study.recording import telemetry

        recorded = telemetry(self.entries[0].design, self._setting())
        columns = {name: pd.Series(samples.values, index=samples.times) for name, samples in recorded.samples.items()}
        return pd.DataFrame(columns).rename_axis("time_s")

    def plot(self, ax: Any = None, *, panel: int = 0) -> Any:
        """Draws a panel of the runs (`panel` counts them) and returns the axes of matplotlib."""
        from coherence.simulate.pictures.run_figure import run_figure

        panels = run_figure(self.names, self.studies, [entry.design for entry in self.entries]).panels
        return drawn_of(panels, panel, ax)

    def _setting(self) -> Setting:
        setting = self.studies[0].setting
        return setting if setting.seeds else replace(setting, seeds=(1,))

    def _curves(self, study: Study) -> dict[str, CourseCurve]:
        return {f"{c.thing}.{c.what}" if c.what else c.thing: c for r in study.records[:1] for c in r.course.curves}

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        changed = {(row["of"], row["what"], row["unit"]): row for row in self.data["difference"]}
        for own in self.data["designs"]:
            for row in own["readings"]:
                key = {"of": row["of"], "what": row["what"], "unit": row["unit"]}
                figures = {"mean": row["value"], "low": row.get("low"), "high": row.get("high")}
                change = changed.get(tuple(key.values()), {})
                more = {name: change.get(k) for name, k in zip(self.changes, ("value", "low", "high"), strict=True)}
                yield {"design": own["path"], **key, **figures, **more}

    def _lines(self) -> Sequence[str]:
        setting, runs = self.studies[0].setting, max(len(study.setting.seeds) for study in self.studies)
        promises = [promise for study in self.studies for promise in study.promises]
        broken = [promise.promise.name for promise in promises if promise.verdict == "broken"]
        counts = f"{runs} runs" if runs else "one exact run"
        return (
            f"StudyResult of {' against '.join(self.names)}: {render_seconds(setting.until)}, {counts}",
            f"  {sum(len(study.readings) for study in self.studies)} figures, {len(self.difference)} compared",
            f"  promises broken: {listed(broken, 'none')} (of {len(promises)})",
        )


def simulate(
    design: Source, *, until: Amount = "10 min", runs: int = 5, seed: int = 1, against: Source | None = None,
    warm_up: Amount | None = None, values: Mapping[str, Amount] | None = None,
) -> StudyResult:  # fmt: skip
    """Returns what independent runs of a design show: percentiles, sends per call, queues, what loops do.

    until: how long to run (s, or a text such as "2 min").  warm_up: left out at the beginning (default: what a test
    finds).  runs: independent runs, with the seeds `seed`, `seed` + 1 and so on.
    against: a second design, run on the same chances and compared.
    values: what the design leaves open, by path: SI numbers, or texts with units.  Raises InputError and UsageError.
    """
    span, warm = seconds(until, "until"), 0.0 if warm_up is None else seconds(warm_up, "warm_up")
    if not 0 <= warm < span:
        raise UsageError(f"warm_up {warm_up} leaves nothing of until {until}: choose a shorter one")
    if runs < 1 or seed < 0:
        raise UsageError(f"runs = {runs} and seed = {seed}: at least one run, and a seed of 0 or more")
    setting = Setting(span, warm, tuple(range(seed, seed + runs)), exact_values(values or {}),
                      finds_start_up=warm_up is None, draws=True)  # fmt: skip
    sources = [design, *([against] if against is not None else [])]
    return studied([name_of(source) for source in sources], map(entry_of, sources), setting)


def studied(names: Sequence[str], entries: Iterator[Entry], setting: Setting, labour: Labour = ALONE) -> StudyResult:
    """Returns the studies of designs under one setting; one that is stopped is the last."""
    from coherence.base.reads import recorded
    from coherence.door.relations import with_relations
    from coherence.door.unread import left_out, unread
    from coherence.language.entries.omissions import merged
    from coherence.simulate.study.repeated_runs import difference
    from coherence.simulate.study.samples import study

    studies: list[Study] = []
    read: list[Entry] = []
    lines: list[tuple[NotRead, ...]] = []
    for entry in entries:
        own_labour = replace(labour, sources=entry.sources, design=_digest(entry))
        with recorded() as reads:
            run = partial(study, entry.design, setting, _announce, own_labour)
            own = with_relations(entry.design, setting, run)
        studies.append(replace(own, assumptions=merged(own.assumptions, left_out(entry.design, reads))))
        lines.append(unread("simulate", entry.design, reads))
        read.append(entry)
        if own.stopped:
            break
    changed = difference(*studies) if len(studies) == len(names) == 2 and not studies[-1].stopped else ()
    shown = tuple(names[: len(studies)])
    data = _document(shown, studies, changed, lines)
    return StudyResult(data, tuple(studies), shown, tuple(read), tuple(lines), changed)


def _digest(entry: Entry) -> str:
    """Returns what results of runs of a design are known by: its texts, and its environment if it is in one."""
    from coherence.base.kept_results import digest_of

    own = entry.design.environment
    return digest_of({**entry.sources, **({" environment": own} if own else {})})


def _announce(share: float) -> None:
    current_run().announce(share, "")


def _document(
    names: Sequence[str], studies: Sequence[Study], changed: Sequence[StudyReading],
    unread_lines: Sequence[Sequence[NotRead]],
) -> dict[str, Any]:  # fmt: skip
    from coherence.door.unread import unread_json

    setting = studies[0].setting
    return {
        **head("simulate"),
        "seconds": setting.until,
        "warm_up": setting.warmup,
        "seeds": list(setting.seeds),
        "stopped": any(study.stopped for study in studies),
        "designs": [
            {"path": name, "readings": [_reading(r) for r in study.readings], "assumptions": list(study.assumptions),
             "notes": list(study.notes), "promises": promises_json(study.promises), "not_read": unread_json(lines)}
            for name, study, lines in zip(names, studies, unread_lines, strict=True)
        ],
        "difference": [_reading(reading) for reading in changed],
    }  # fmt: skip


def _reading(reading: StudyReading) -> dict[str, Any]:
    row: dict[str, Any] = {"of": reading.of, "what": reading.what, "unit": reading.unit, "value": reading.value}
    if reading.low is not None and reading.high is not None:
        row |= {"low": reading.low, "high": reading.high}
    if reading.least is not None:
        row |= {"runs": {"least": reading.least, "most": reading.most}}
    if reading.more_than:
        row["more_than"] = True
    if reading.out_of is not None:
        row["out_of"] = reading.out_of
    return {**row, "too_short": reading.too_short} if reading.too_short else row


def promises_json(promises: Sequence[JudgedPromise]) -> list[dict[str, Any]]:
    """Returns the promises with their verdicts, figures and witnesses, for machines."""
    return [dict(_promise(promise)) for promise in promises]


def _promise(promise: JudgedPromise) -> Iterator[tuple[str, object]]:
    yield from (("name", promise.promise.name), ("promise", promise.promise.text), ("verdict", str(promise.verdict)))
    yield from (("message", promise.message), ("line", promise.promise.place.line))
    if promise.reading is not None:
        reading = promise.reading
        yield "figure", {"of": reading.of, "what": reading.what, "unit": reading.unit, "value": reading.value,
                         "low": reading.low, "high": reading.high}  # fmt: skip
    if promise.seconds is not None:
        yield "witness", {"seed": promise.seed, "seconds": promise.seconds}
