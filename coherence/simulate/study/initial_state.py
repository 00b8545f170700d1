"""Finds where runs begin: where a design leaves starts open, the point at which it rests under its mean load.

The design is run without chance and without bursts, from the lower ends of what is open; under loops over requests,
with requests that flow evenly.  Where that run comes to rest for ever, runs begin there.  An equilibrium that it does
not come to is none to begin at: the swings around one that is unstable would not be seen.  Where it swings, grows or
stays overloaded, runs begin at the lower ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from coherence.base.number_text import render_measured
from coherence.language.design import Design
from coherence.language.expressions.evaluate import NotExactError
from coherence.model.model import Interval, Model, unit_of
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.instants import Choices, Instant, MissingValueError
from coherence.simulate.execute.orbits import hyperperiod, long_run
from coherence.simulate.execute.slices import sliced
from coherence.simulate.processes import Processes
from coherence.simulate.study.even_flow import EvenFlow
from coherence.simulate.study.loops_over_requests import Coupled, run_model
from coherence.simulate.study.readings import unit_text
from coherence.simulate.study.setting import Setting

INSTANTS = 2_000  # of the run that looks for rest
TELL = "--set PATH=VALUE tells another start"


@dataclass(frozen=True)
class InitialState:
    """Values at which signals begin of which the design states none, and lines that say so."""

    values: Mapping[str, Fraction]
    notes: tuple[str, ...] = ()

    def begin(self, setting: Setting) -> Setting:
        """Returns the setting of runs that begin there."""
        return replace(setting, values={**self.values, **setting.values})


def initial_state(design: Design, requests: Processes, setting: Setting) -> InitialState:
    """Returns where runs begin.  Where arrivals are replayed nothing says under which load the design had rested."""
    if not design.loops and requests.program.sources:
        return InitialState({})
    model, measured = run_model(design), _measured(requests)
    begins = _open_starts(model, {*measured, *setting.values})
    if not begins:
        return InitialState({})
    rest = {} if setting.trace or not design.loops else _rest(design, requests, model, setting, begins)
    if rest:
        return InitialState(rest, (f"runs begin at rest: {_listed(model, rest)}; {TELL}",))
    lows = {path: start.low for path, start in begins.items() if start.low is not None}
    unrested = "no rest was found" if design.loops else "no loop acts"
    why = "its arrivals are replayed" if setting.trace else unrested
    low = f"runs begin at the lower ends of what is open ({why}): {_listed(model, lows)}; {TELL}"
    return InitialState({}, (low,) if lows else ())


def _measured(requests: Processes) -> frozenset[str]:
    """Returns the states of stations that a run of requests makes itself."""
    return frozenset(f"{station.name}.backlog" for station in requests.program.stations)


def _open_starts(model: Model, told: set[str]) -> dict[str, Interval]:
    """Returns the states and commands whose start the design leaves open, with the values that it leaves open."""
    tables: tuple[Mapping[str, Any], ...] = (model.states, model.commands)
    starts = {path: signal.initial for table in tables for path, signal in table.items() if path not in told}
    return {path: start for path, start in starts.items() if not start.exact}


def _rest(
    design: Design, requests: Processes, model: Model, setting: Setting, begins: Mapping[str, Interval]
) -> dict[str, Fraction]:
    """Returns where those signals rest in the end.

    Nothing where the run does not come to rest, rests at what is not open to begin at, or cannot be made.
    """
    try:
        if requests.program.sources:
            lap = _lap_over_requests(design, requests, setting)
        else:
            own = sliced(model, [*(loop.name for loop in model.loops), *begins])
            orbit = long_run(own, Choices(setting.values), most=INSTANTS).orbit
            lap = orbit.lap if orbit is not None and orbit.still else ()
    except (NotExactError, MissingValueError):
        return {}
    rest = {path: plain(lap[-1].after[path]) for path in begins if path in lap[-1].after} if lap else {}
    return rest if all(begins[path].clip(value) == value for path, value in rest.items()) else {}


def _lap_over_requests(design: Design, requests: Processes, setting: Setting) -> tuple[Instant, ...]:
    """Returns a lap on which nothing changes, of loops over requests that flow evenly and do not pile up."""
    flow = EvenFlow(requests.program)
    run = Coupled(design, requests, flow, setting.values)
    whole, seen = hyperperiod(run.cut.model), dict[object, int]()
    while len(run.instants) < INSTANTS:
        run.advance(float(run.execution.next_time()))
        if flow.overloaded:
            continue
        first = seen.setdefault((run.execution.configuration(whole), run.since_reading), len(run.instants))
        if first < len(run.instants):
            lap = tuple(run.instants[first:])
            return lap if all(one.sampled == lap[0].sampled == one.after for one in lap) else ()
    return ()


def _listed(model: Model, values: Mapping[str, Fraction]) -> str:
    pairs = ((path, render_measured(float(value), unit_text(unit_of(model, path)))) for path, value in values.items())
    return ", ".join(f"{path} = {text}" for path, text in pairs)
