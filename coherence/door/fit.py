"""Fits a design to telemetry, from Python: strengths of influences, shares of a loss, counterfactuals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from coherence.base.errors import UsageError
from coherence.base.watchdog import run_limit
from coherence.causal.answers.answer import Section
from coherence.causal.session.context import Context, FitSettings
from coherence.checking.workspace import Entry
from coherence.door.result import VerbResult, drawn_of, frame, head, listed
from coherence.door.sources import Source, entry_of, name_of
from coherence.findings.finding import Finding, NotRead, Verdict

if TYPE_CHECKING:
    from networkx import DiGraph
    from pandas import DataFrame

    from coherence.causal.carrier.linear_gaussian import Carried, GaussianNetwork
    from coherence.causal.carrier.second_opinions import InfluenceOpinion
    from coherence.simulate.telemetry.contract import Telemetry

INFLUENCES = (
    "cause", "effect", "delay_s", "strength", "low", "high", "error", "told", "seen", "method", "refused", "measure",
)  # fmt: skip
SHARES = ("cause", "amount", "low", "high", "half", "refused", "measure")
LEVELS = ("signal", "measured", "level", "low", "high", "refused")


@dataclass(frozen=True, repr=False)
class FitResult(VerbResult):
    """A design fitted to telemetry: what each influence does, and how much of a loss each cause made.

    `to_frame()` is `influences`: a row for each (cause, effect, delay_s, strength with its 95 % interval, whether the
    data tell and show it, the method, and where it is refused what to measure).
    """

    sections: tuple[Section, ...] = field(compare=False)
    context: Context = field(compare=False)
    name: str = field(compare=False)
    unread: tuple[NotRead, ...] = field(compare=False)
    columns: ClassVar[tuple[str, ...]] = INFLUENCES

    @property
    def influences(self) -> DataFrame:
        """Returns the fitted influences, a row for each, with columns that `graph` has as attributes.

        strength: change of the effect for one of the cause, in SI units, with its 95 % interval (low, high).
        """
        return self.to_frame()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns what telemetry says against the design (COH401 to COH408)."""
        return tuple(finding for section in self.sections for finding in section.findings)

    @property
    def refused(self) -> DataFrame:
        """Returns what these data cannot tell (of, why, measure)."""
        influences = [{"of": f"{row['cause']} -> {row['effect']}", **row} for row in self._rows() if not row["told"]]
        shares = [{"of": row["cause"], **row} for row in self._shares() if row["refused"]]
        rows = [{"of": row["of"], "why": row["refused"], "measure": row["measure"]} for row in (*influences, *shares)]
        return frame(rows, ("of", "why", "measure"))

    @property
    def graph(self) -> DiGraph:
        """Returns the fitted influences as a networkx.DiGraph; edges have delay_s, strength, low, high, told, seen."""
        from networkx import DiGraph

        network = DiGraph(name=self.name)
        for row in self._rows():
            network.add_edge(row["cause"], row["effect"], **{k: v for k, v in row.items() if k not in INFLUENCES[:2]})
        return network

    def shares(self) -> DataFrame:
        """Returns how much of the loss each cause made, with what is unexplained: a row for each.

        amount: in the unit of the loss, with its 95 % interval (low, high; half: half its width).
        The amounts add up to the measured loss.  Raises UsageError where no loss is named or it cannot be split.
        """
        section = self._section("shares")
        if section is None:
            refused = self._section("refused")
            why = str(refused.data["refused"]) if refused is not None else "no loss is named: fit(..., loss=EXPR)"
            raise UsageError(why)
        return frame(self._shares(), SHARES)

    def do(self, levels: Mapping[str, float]) -> DataFrame:
        """Returns what every signal would be if some were held at these levels (SI): a row for each signal.

        measured, level: the mean as it was and as it would be, in SI units, with a 95 % interval (low, high).
        Raises UsageError for a signal that there is not.
        """
        section = self._answer_under(replace(self.context.settings, do=dict(levels)), "queries")
        rows = ({**row, **_interval(row["level"])} for row in section.data["signals"])
        return frame(({**row, "level": row["value"]} for row in rows), LEVELS)

    def off(self, *loops: str) -> Mapping[str, Any]:
        """Returns what the loss would be without loops, as the section "by loop" of the command's JSON.

        Raises UsageError for a loop that there is not, or where no loss is named.
        """
        return self._answer_under(replace(self.context.settings, off=loops), "loops_off").data

    def to_pgmpy(self, *, standard: bool = False) -> Carried:
        """Returns the fitted network as pgmpy's LinearGaussianBayesianNetwork (`.model`), with the names of its nodes.

        standard: nodes in standard deviations from their mean.  `from_pgmpy` reads it back.
        Raises UsageError where causes form a circle within one step, MissingExtraError without pgmpy.
        """
        from coherence.causal.carrier.linear_gaussian import to_pgmpy

        return to_pgmpy(self.network, standard=standard)

    @property
    def network(self) -> GaussianNetwork:
        """Returns the fitted network as matrices.  Raises UsageError where causes form a circle within one step."""
        from coherence.causal.carrier.linear_gaussian import network

        return network(self.context.fitted)

    def second_opinion(self) -> tuple[InfluenceOpinion, ...]:
        """Returns what statsmodels and pgmpy say of each strength that is told, from the same rows.

        Raises UsageError for telemetry that was read as a stream, MissingExtraError without pgmpy.
        """
        from coherence.causal.carrier.second_opinions import second_opinions

        if self.context.chunks is not None:
            raise UsageError("a second opinion reads all rows at once: leave --stream out")
        return second_opinions(self.context.fitted, self.context.series)

    def plot(self, ax: Any = None, *, panel: int = 0) -> Any:
        """Draws a panel (the graph, shares, the ledger: `panel` counts them); returns the axes of matplotlib."""
        panels = [panel for section in self.sections for panel in section.panels]
        return drawn_of(panels, panel, ax)

    def _section(self, key: str) -> Section | None:
        return next((section for section in self.sections if key in section.data), None)

    def _answer_under(self, settings: FitSettings, name: str) -> Section:
        """Returns the answer of one section under other settings.  Raises UsageError where it has none."""
        import importlib

        context = Context(self.context.design, self.context.whole, settings)
        section = importlib.import_module(f"coherence.causal.sections.{name}").answer(context)
        if not isinstance(section, Section):
            raise UsageError("this fit has no answer to that: name the loss, and signals of the design")
        return section

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        section = self._section("influences")
        for row in section.data["influences"] if section is not None else ():
            figures = _interval(row["strength"])
            yield {**row, **figures, "strength": figures["value"], "measure": ", ".join(row["measure"])}

    def _shares(self) -> Iterator[Mapping[str, Any]]:
        section = self._section("shares")
        if section is None:
            return
        rest = {"cause": "unexplained", "amount": section.data["unexplained"], "refused": "", "measure": []}
        for row in (*section.data["shares"], rest):
            figures = _interval(row["amount"])
            half = None if figures["low"] is None or figures["high"] is None else (figures["high"] - figures["low"]) / 2
            yield {**row, **figures, "amount": figures["value"], "half": half, "measure": ", ".join(row["measure"])}

    def _lines(self) -> Sequence[str]:
        rows, section = list(self._rows()), self._section("shares")
        contrary = sum(finding.verdict is Verdict.CONFLICT for finding in self.findings)
        largest = [f"{row['cause']} {row['amount']:.4g}" for row in self._shares() if row["amount"] is not None]
        loss = f"loss {section.data['loss']}: {listed(largest, 'nothing')}" if section is not None else "no loss named"
        return (
            f"FitResult of {self.name}: {sum(row['told'] for row in rows)} of {len(rows)} influences told",
            f"  {loss}",
            f"  {contrary} findings against the design",
        )


def _interval(estimate: Mapping[str, float | None] | None) -> Mapping[str, Any]:
    return estimate or {"value": None, "low": None, "high": None, "error": None}


def fit(
    design: Source, telemetry: Any, *, loss: str | None = None, window: tuple[float, float] | None = None,
    against: tuple[float, float] | None = None, step: float | None = None, time_limit: float = 600.0, **more: Any,
) -> FitResult:  # fmt: skip
    """Returns a design fitted to telemetry.

    telemetry: a data frame (index: seconds, or times; a column for each signal), a path of a CSV, Parquet or OTLP
    file or a folder, or several paths.
    loss: what is to be explained: a signal, or an expression of signals.
    window, against: (from, to) in seconds of the telemetry: explain this stretch, and what changed since the other.
    step: of the common clock in s (default: the usual spacing).  time_limit: seconds of the wall.
    more: fields of FitSettings: reference, off, do, rank, bootstraps, jobs, seed, requests, ledger.
    Raises InputError and UsageError.
    """
    unknown = sorted(set(more) - set(FitSettings.__dataclass_fields__))
    if unknown:
        raise TypeError(f"fit() got an unexpected keyword argument '{unknown[0]}'")
    entry = entry_of(design)
    settings = FitSettings(loss=loss, window=window, against=against, **more)
    return fitted(entry, name_of(design), lambda: _context(entry, telemetry, settings, step), time_limit)


def rank(design: Source, telemetry: Any, signal: str, **more: Any) -> FitResult:
    """Returns the fit whose section "ranking" has the root causes of an incident at a signal, the likeliest first.

    design, telemetry, more: as `fit` takes them; `window` is the incident.  signal: where the incident shows.
    Raises InputError and UsageError.
    """
    return fit(design, telemetry, **{**more, "rank": signal})


def fitted(entry: Entry, name: str, context: Callable[[], Context], time_limit: float) -> FitResult:
    """Returns what a fit answers within a time (s); `context` reads the telemetry."""
    from coherence.base.reads import recorded
    from coherence.causal.sections import answers
    from coherence.door.unread import left_out, unread, unread_json

    with recorded() as reads, run_limit(time_limit, wall=True):
        session = context()
        sections = tuple(answers(session))
    lines = unread("fit", entry.design, reads)
    data = {
        **head("fit"), "design": name,
        "sections": [{"title": section.title, **section.data} for section in sections],
        "assumptions": list(left_out(entry.design, reads)), "not_read": unread_json(lines),
    }  # fmt: skip
    return FitResult(data, sections, session, name, lines)


def _context(entry: Entry, source: Any, settings: FitSettings, step: float | None) -> Context:
    from coherence.causal import telemetry

    paths = [source] if isinstance(source, str | Path) else source
    measured = of_frame(paths) if hasattr(paths, "columns") else telemetry.read(tuple(map(str, paths)))
    named = telemetry.named(measured, entry.design.telemetry)
    series = telemetry.aligned(named, step=step, keep=("constant", "copies"))
    context = Context(entry.design, series, settings)
    context.telemetry_report = telemetry.report(named, series, wanted=context.wanted)
    return context


def of_frame(table: DataFrame) -> Telemetry:
    """Returns the telemetry in a data frame: its index is the time (s, or times), its columns are signals.

    Raises UsageError where the index is no time, or a column holds no numbers.
    """
    import numpy as np
    import pandas as pd

    from coherence.simulate.telemetry.contract import Signal, telemetry

    index = table.index
    try:
        if isinstance(index, pd.DatetimeIndex):
            times = (index - pd.Timestamp(0, tz=index.tz)) / pd.Timedelta(seconds=1)
        else:
            times = index / pd.Timedelta(seconds=1) if isinstance(index, pd.TimedeltaIndex) else index
        clock = np.asarray(times, np.float64)
        columns = {str(name): np.asarray(table[name], np.float64) for name in table.columns}
        finite = {name: np.isfinite(values) for name, values in columns.items()}
        return telemetry(
            {Signal(name): (clock[finite[name]], columns[name][finite[name]]) for name in columns}, grid=clock
        )
    except (TypeError, ValueError) as error:
        raise UsageError(f"the data frame is no telemetry: {error}; give an index of times and columns of numbers",
            ) from None  # fmt: skip
