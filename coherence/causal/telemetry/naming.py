"""Applies the design's `telemetry:` section: signal -> column of a file, or PromQL for a Prometheus."""

from __future__ import annotations

from collections.abc import Mapping

from coherence.base.errors import did_you_mean
from coherence.language.schema_kinds import Word
from coherence.simulate.telemetry.contract import Origin, Signal, Telemetry


def named(telemetry: Telemetry, columns: Mapping[str, str | Word]) -> Telemetry:
    """The telemetry with the design's names for its columns; other columns keep theirs.

    A column may serve several signals.  A signal whose column is not there is left out by name, and so is a column of
    the signal's own name that the design overrides with another.
    """
    known = {signal.name: signal for signal in telemetry.signals}
    wanted = {signal: str(column) for signal, column in columns.items()}
    chosen = {signal: column for signal, column in wanted.items() if column in known}
    missing = [
        (signal, f"its column '{column}' is not in the telemetry", did_you_mean(column, known) or "look into the files")
        for signal, column in wanted.items()
        if column not in known
    ]
    replaced = [
        (signal, f"the design reads its values from '{column}', not from this column", "rename the column")
        for signal, column in chosen.items()
        if signal in known and signal != column and signal not in chosen.values()
    ]
    sources = {**chosen, **_rest(known, wanted, chosen)}
    signals = {name: _called(known[column], name) for name, column in sources.items()}
    order = sorted(signals)
    samples = {name: telemetry.samples[sources[name]] for name in order}
    origins = tuple(_renamed(origin, sources) for origin in telemetry.origins)
    if missing or replaced:
        origins = (*origins, Origin("telemetry of the design", "names", "", (), 0, (), (*missing, *replaced)))
    return Telemetry(tuple(signals[name] for name in order), samples, telemetry.grid, telemetry.causes, origins)


def _rest(known: Mapping[str, Signal], wanted: Mapping[str, str], found: Mapping[str, str]) -> dict[str, str]:
    taken = set(found.values())
    return {name: name for name in known if name not in taken and name not in wanted}


def _called(signal: Signal, name: str) -> Signal:
    return signal if signal.name == name else Signal(name, signal.unit, signal.kind, signal.source)


def _renamed(origin: Origin, sources: Mapping[str, str]) -> Origin:
    own = set(origin.signals)
    names = tuple(name for name, column in sources.items() if column in own)
    return Origin(origin.name, origin.form, origin.clock, names, origin.rows, origin.notes, origin.left_out)


def queries_of(telemetry: Mapping[str, str | Word]) -> dict[str, str | Word]:
    """The queries that `queried` asks: all that the section names, each with its place in the design."""
    return dict(telemetry)
