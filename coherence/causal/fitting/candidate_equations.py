"""Builds the equations that may estimate the causes of an effect, and finds the coefficients that each one misses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from coherence.causal.data.series import Floats
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.gram import Column
from coherence.causal.fitting.identification_problem import (
    IdentificationProblem,
    hidden_above,
    lasting_latents,
    observed_causes,
)
from coherence.causal.fitting.memory import DEEP, MEMORY, filtered, from_moments
from coherence.causal.fitting.trials import SAME, Draw


def candidates_for(problem: IdentificationProblem, effect: str) -> Iterator[Equation]:
    """Yields the equations for an effect, from plain regression on its causes to regression through their causes."""
    columns = observed_causes(problem, effect)
    yield Equation(effect, columns)
    if any(effect in problem.graph.ancestors(cause) for cause, _ in columns):
        yield filtered(Equation(effect, columns))
    beside = _beside(problem, effect, columns)
    if beside:
        yield Equation(effect, columns, controls=beside, method="front-door")
    news = () if problem.shortened else _news(problem, effect, columns)
    if news:
        yield Equation(effect, columns, controls=news, method="what is new in its causes")
    instruments = _instruments(problem, effect, columns)
    if instruments:
        yield Equation(effect, columns, instruments=instruments, method="instruments")
    wider, gone = ((), ()) if problem.shortened else _replaced(problem, effect, columns)
    if wider and wider != columns:
        yield Equation(effect, wider, method="through its causes", replaced=gone)
        instruments = _instruments(problem, effect, wider)
        if instruments:
            way = "instruments, through its causes"
            yield Equation(effect, wider, instruments=instruments, method=way, replaced=gone)


def _beside(problem: IdentificationProblem, effect: str, columns: Sequence[Column]) -> tuple[Column, ...]:
    """Returns observed signals with a latent cause in common with the effect, and their own causes."""
    hidden = hidden_above(problem, effect)
    shared = [
        n for n in problem.graph.nodes if n in problem.observed and n != effect and hidden & hidden_above(problem, n)
    ]
    beside = [column for name in shared for column in ((name, 0), *observed_causes(problem, name))]
    return tuple(c for c in dict.fromkeys(beside) if c not in columns and c != (effect, 0))


def _news(problem: IdentificationProblem, effect: str, columns: Sequence[Column]) -> tuple[Column, ...]:
    """Returns what each cause follows from: its own past and its causes, as far back as own parts remember."""
    news: list[Column] = []
    for name, lag in columns:
        news += [(name, lag + back) for back in range(1, MEMORY + 1)]
        news += [(c, lag + late + back) for c, late in observed_causes(problem, name) for back in range(MEMORY + 1)]
    deepest = problem.systems[0].depth - 1
    return tuple(c for c in dict.fromkeys(news) if c not in columns and c != (effect, 0) and c[1] <= deepest)


def _candidates(problem: IdentificationProblem) -> list[Column]:
    used = {(cause, lag) for cause, _, lag in problem.edges}
    return [
        c for c in dict.fromkeys([*((n, 0) for n in problem.graph.nodes), *sorted(used)]) if c[0] in problem.observed
    ]


def _instruments(problem: IdentificationProblem, effect: str, columns: Sequence[Column]) -> tuple[Column, ...]:
    """Returns columns that the own part of the effect does not reach and that move its causes."""
    possible = [column for column in _candidates(problem) if column != (effect, 0)]
    if any(name == effect for name, _ in columns) and not problem.shortened:  # its own past needs what moved it then
        deepest = problem.systems[0].depth - 1
        past = [(name, lag + back) for name, lag in columns for back in range(1, DEEP + 1) if name != effect]
        possible = list(dict.fromkeys([*possible, *(column for column in past if column[1] <= deepest)]))
    rows = [(draw, _own_part(problem, draw, effect, columns)) for draw in problem.systems]
    valid = [c for c in possible if all(not _related(draw.row(c), rest) for draw, rest in rows)]
    moving = [c for c in valid if any(_related(problem.systems[0].row(c), problem.systems[0].row(x)) for x in columns)]
    return tuple(moving)


def _related(one: Floats, other: Floats) -> bool:
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return size > 0 and abs(float(one @ other)) > SAME * size


def _own_part(problem: IdentificationProblem, draw: Draw, effect: str, columns: Sequence[Column]) -> Floats:
    """Returns what of the effect is not explained by the columns with their true coefficients."""
    truth = _truth(problem, draw, effect, columns)
    return np.asarray(draw.row((effect, 0)) - sum(truth[c] * draw.row(c) for c in columns), np.float64)


def _truth(problem: IdentificationProblem, draw: Draw, effect: str, columns: Sequence[Column]) -> dict[Column, float]:
    """Returns the coefficient of each column when all other causes are replaced by their causes, in circles too.

    The signals between satisfy s = W s + R z with the columns z, so the effect is its row of (I - W)^-1 R.
    """
    between: list[Column] = [(effect, 0)]
    links: list[tuple[Column, Column, float]] = []
    for here in between:  # grows while it is read
        for edge in problem.into.get(here[0], ()):
            there = (edge[0], here[1] + edge[2])
            if there[1] >= draw.depth:
                continue
            links.append((here, there, draw.coefficients[edge]))
            if there not in columns and there not in between:
                between.append(there)
    w, r = np.zeros((len(between), len(between))), np.zeros((len(between), len(columns)))
    for here, there, strength in links:
        table, place = (r, columns.index(there)) if there in columns else (w, between.index(there))
        table[between.index(here), place] += strength
    effects = np.linalg.solve(np.eye(len(between)) - w, r)[0]
    return dict(zip(columns, effects.tolist(), strict=True))


def _replaced(
    problem: IdentificationProblem, effect: str, columns: Sequence[Column]
) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Returns (columns, signals replaced): causes tied to the effect's own part give way to their own causes.

    (what is left, every signal that was replaced anywhere on the way: what is its own stays with the effect)
    """
    gone: list[str] = []
    rests = [(draw, _own_part(problem, draw, effect, columns)) for draw in problem.systems]
    replaced: list[Column] = []
    waiting = [(column, frozenset({effect})) for column in columns]
    while waiting:
        (cause, lag), met = waiting.pop(0)
        behind = problem.into.get(cause, ())
        tied = any(_related(draw.row((cause, lag)), rest) for draw, rest in rests)
        if tied and cause not in met and any(edge[0] in problem.observed for edge in behind):
            gone += [cause] if cause != effect else []
            waiting += [((edge[0], lag + edge[2]), met | {cause}) for edge in behind if edge[0] in problem.observed]
        else:
            replaced.append((cause, lag))
    regressors = [column for column in dict.fromkeys(replaced) if column != (effect, 0)]
    deepest = problem.systems[0].depth - 1
    return tuple(column for column in regressors if column[1] <= deepest), tuple(dict.fromkeys(gone))


def missed_columns(problem: IdentificationProblem, way: Equation) -> tuple[Column, ...]:
    """Returns the columns whose true coefficient the equation does not return on every system."""
    lasting = lasting_latents(problem, way.effect)
    right = np.array([name not in lasting for name, _ in way.columns], bool)
    for draw in problem.systems:
        truth = _truth(problem, draw, way.effect, way.columns)
        wanted = np.array([truth[column] for column in way.columns])
        right &= np.abs(_estimated(draw, way) - wanted) <= 1e-5 * (1 + np.abs(wanted))
    return tuple(column for column, good in zip(way.columns, right.tolist(), strict=True) if not good)


def _estimated(draw: Draw, way: Equation) -> Floats:
    """Returns the estimate from exact moments."""
    if way.memory:
        every = [(name, lag + back) for name, lag in (*way.columns, (way.effect, 0)) for back in range(MEMORY + 1)]
        return from_moments(draw.moments(every, every), len(way.columns))
    regressors = [*way.columns, *way.controls]
    target = [(way.effect, 0)]
    if way.instruments:
        between = draw.moments([*way.instruments, *way.controls], regressors)
        answer = draw.moments([*way.instruments, *way.controls], target)
    else:
        between, answer = draw.moments(regressors, regressors), draw.moments(regressors, target)
    return np.asarray((np.linalg.pinv(between, rcond=1e-9) @ answer)[: len(way.columns), 0], np.float64)
