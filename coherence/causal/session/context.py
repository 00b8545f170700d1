"""Computes what the sections of `coherence fit` ask for, each thing once, when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from coherence.base.errors import UsageError
from coherence.base.jobs import HERE, WorkerPool
from coherence.causal.attribution.mechanisms import constants_of
from coherence.causal.attribution.split import Split, split
from coherence.causal.data.extents import Extents
from coherence.causal.data.series import Excluded, Series
from coherence.causal.data.usable import unchanging, usable, without_copies
from coherence.causal.fitting import loss_expression
from coherence.causal.fitting.effects import attribute
from coherence.causal.fitting.fit import Fitted, fit, supported
from coherence.causal.fitting.fit_streams import fit_chunks
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.ledger.of_design import LOST, TEXT, Booked, booked, lost_time, state_signals
from coherence.causal.ledger.token_counts import token_signals
from coherence.causal.session.call_candidates import accounts
from coherence.causal.session.candidates import candidates
from coherence.causal.session.couplings import Tested, tested
from coherence.causal.session.request_inputs import RequestInputs, bands, request_inputs
from coherence.causal.session.slow_confounding import without_slow_confounding
from coherence.causal.session.specification import Specification, specification

if TYPE_CHECKING:
    from coherence.causal.telemetry import TelemetryReport
    from coherence.language.design import Design
    from coherence.model.model import Model

Window = tuple[float, float]


@dataclass(frozen=True)
class FitSettings:
    """What the user asks.  Times in seconds of the telemetry's clock.

    `window`: what is explained (default: all of it); `against`: another stretch to compare it with; `reference`: level
    of a cause's own part that counts as no loss (default 0); `off`: loops to be switched off; `do`: signals to be set.
    `familywise`: the chance that any influence without an effect counts as seen (None: a false-discovery rate of 5 %).
    `workers`: who draws bootstraps; `into`: the file that keeps them.
    """

    loss: str | None = None
    window: Window | None = None
    against: Window | None = None
    reference: Mapping[str, float] = field(default_factory=dict)
    off: tuple[str, ...] = ()
    do: Mapping[str, float] = field(default_factory=dict)
    rank: str | None = None
    familywise: float | None = None
    bootstraps: int = 0
    workers: WorkerPool = HERE
    into: str | None = None
    seed: int = 1
    requests: str | None = None
    ledger: str | None = None


class Context:
    """A design, its telemetry on one clock, and what follows from both.

    `told`: the report of reading the telemetry, for the first section.  `chunks`: reads the telemetry anew, where it is
    too large for memory; `series` is then its beginning, `extents` say what all of it holds, and only what sums of
    products can answer is answered.
    """

    def __init__(
        self, design: Design, series: Series, settings: FitSettings,
        chunks: Callable[[], Iterable[Series]] | None = None, extents: Extents | None = None,
    ) -> None:  # fmt: skip
        self.design, self.whole, self.settings, self.chunks = design, series, settings, chunks
        self.extents = extents
        self.telemetry_report: TelemetryReport | None = None

    @property
    def wanted(self) -> tuple[str, ...]:
        """The signals of the design that telemetry could have, and those of it that the ledger reads."""
        columns = (*self.whole.names, *(one.what for one in self.whole.excluded))
        return (
            *candidates(self.model, columns).nodes, *state_signals(self.design, self.whole, others=True),
            *bands(self.model, self.whole), *token_signals(self.design, self.whole),
        )  # fmt: skip

    @cached_property
    def model(self) -> Model:
        """The model of the design."""
        from coherence.model.elaborate import model_of

        return model_of(self.design)

    @cached_property
    def usable(self) -> tuple[Series, tuple[Excluded, ...]]:
        """The signals that can be fitted, and those that cannot, each with the reason."""
        return usable(self.whole, self.extents)

    @cached_property
    def loss(self) -> loss_expression.LossExpression | None:
        """The loss that is asked for, as a signal of its own."""
        stated = self.settings.loss
        for excluded in self.usable[1]:
            if stated is not None and excluded.what in (stated, self.model.resolve(stated)):
                raise UsageError(f"--loss: {excluded.what} cannot be explained: {excluded.why}; {excluded.remedy}")
        if stated is None or (stated in (LOST, TEXT) and stated not in self.whole):
            return self._lost_time
        return loss_expression.loss_of(stated, self.usable[0], self.model)

    @cached_property
    def booked(self) -> Booked | None:
        """The ledger of what devices did, from `--ledger` or from telemetry; None where neither speaks of it."""
        series = self.whole.between(*self.settings.window) if self.settings.window else self.whole
        log = self.settings.ledger
        books = booked(
            self.design, series, log=log, window=self.settings.window, graph=self._declared, whole=self.chunks is None
        )
        if log is not None and books is not None and books.fleet is None:
            raise UsageError(f"--ledger: {log} is not read, for the design has no fleet", books.refused)
        return books

    @cached_property
    def request_inputs(self) -> RequestInputs | None:
        """What the indices read: `--requests`, and the bands of loops; None where there is neither."""
        window = self.settings.window
        kept = self.whole.between(*window) if window else self.whole
        return request_inputs(self.design, self.model, kept, log=self.settings.requests, window=window)

    @cached_property
    def _lost_time(self) -> loss_expression.LossExpression | None:
        """What the ledger books as lost, where it is asked for or the design says what acts on a state of a device."""
        stated, booked = self.settings.loss, self.booked
        if booked is None or booked.ledger is None or booked.series is None or booked.ledger.violations:
            if stated is not None:
                raise UsageError(
                    f"--loss: '{stated}' is read from the states of devices in telemetry, and there is no ledger"
                )
            return None
        if stated is None and not any(map(self._declared.causes, booked.series.names)):
            return None
        lost = lost_time(booked.ledger, self.whole, booked.unit, whole=stated == TEXT)
        if lost is None and stated is not None:
            raise UsageError(f"--loss: no state that is structural has a signal; name '{TEXT}', or log states")
        return lost

    @cached_property
    def _declared(self) -> CausalGraph:
        """The candidate graph; a signal that is there and never changes is the cause of no change."""
        graph = candidates(self.model, self.usable[0].names)
        still = set(unchanging(self.whole, self.extents))
        acting = tuple(one for one in graph.influences if one.cause not in still)
        return replace(graph, influences=acting) if still else graph

    @cached_property
    def graph(self) -> CausalGraph:
        """The candidate graph, the loss included."""
        graph = self._declared
        return self.loss.added(graph) if self.loss is not None else graph

    @cached_property
    def series(self) -> Series:
        """The signals of the graph in the window that is explained, the loss included.  Raises UsageError."""
        found = self.within(self.settings.window, "--window")
        known = set(self.graph.nodes)
        return found.of(name for name in found.names if name in known)

    def within(self, window: Window | None, option: str) -> Series:
        """Every signal that can be fitted, the loss included, in a stretch of time.  Raises UsageError: it is empty."""
        series = self.usable[0]
        series = self.loss.joined(series) if self.loss is not None else series
        part = series.between(*window) if window else series
        if window and not len(part) and len(series):
            first, last = series.times[0], series.times[-1]
            raise UsageError(f"{option} {window[0]:g}..{window[1]:g}: the telemetry is from {first:g} to {last:g} s")
        return part

    @cached_property
    def fitted(self) -> Fitted:
        """The fitted graph; what these data cannot bear is refused."""
        exact = [self.loss.equation] if self.loss is not None and self.loss.equation is not None else []
        if self.chunks is not None:
            rows = self.extents.rows if self.extents is not None else None
            read = self.chunks
            return fit_chunks(lambda: map(self._with_loss, read()), self.graph, exact, rows=rows)
        return without_slow_confounding(self.series, fit(self.series, self.graph, exact))

    @cached_property
    def seen(self) -> dict[tuple[str, str], bool]:
        """Whether the data show each declared pair (cause, effect)."""
        return supported(self.fitted, familywise=self.settings.familywise)

    @cached_property
    def specification(self) -> Specification:
        """Whether causes act at the declared delays, along the declared lines; nothing of a stream is tested."""
        if self.chunks is not None:
            return Specification((), 0, ())
        return specification(self.series, self.fitted)

    @cached_property
    def split(self) -> Split:
        """The loss by cause, through declared mechanisms as they are.  Raises NoLastingEffectError."""
        assert self.loss is not None
        unit = self.loss.unit or self.whole.units.get(self.loss.name, "").removeprefix("1")
        name, reference = self.loss.name, self.settings.reference
        if self.chunks is not None:
            return Split(attribute(self.fitted, name, reference=reference, unit=unit))
        constants = constants_of(self.model)
        return split(self.series, self.fitted, name, constants=constants, reference=reference, unit=unit)

    def _with_loss(self, chunk: Series) -> Series:
        kept = chunk.of(name for name in chunk.names if name in self.usable[0])
        said, known = self.settings.loss, set(self.graph.nodes)
        made = loss_expression.loss_of(said, kept, self.model).joined(kept) if said is not None else kept
        return made.of(name for name in made.names if name in known)

    @cached_property
    def couplings(self) -> Tested:
        """What acts beyond what is declared, among the measured signals (a loss that is computed is none)."""
        if self.chunks is not None:
            return Tested((), 0)
        graph = self._declared
        beside = (*state_signals(self.design, self.whole, others=True), *bands(self.model, self.whole),
                  *token_signals(self.design, self.whole))  # fmt: skip
        booked_only = set(beside) - {one.effect for one in graph.influences}
        series = self.usable[0].of(name for name in self.usable[0].names if name not in booked_only)
        series = without_copies(series, graph.nodes)
        series = series.between(*self.settings.window) if self.settings.window else series
        return tested(series, graph, accounts(self.design, series.names))
