"""Decides which coefficients are identified, by which estimator, and what to measure where none is.

For each effect the ways are tried in order, each on exact moments of generic systems (`trials`):
    its causes          least squares on all observed causes
    memory removed      the same in a circle, after the memory of the effect's own part is filtered out (`memory`)
    front-door          the same beside the observed signals that share a latent cause with the effect
    news                the same beside what the causes follow from, so that only what is new in each of them counts
    instruments         two-stage least squares on every column that the own part of the effect cannot reach
    through its causes  a cause that cannot be told apart is replaced by its own causes (its total effect remains)
What none of them finds is refused: its coefficient is not given, whatever the regression would say, and each latent
signal is tried in turn as if it were measured, to say what would help.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from coherence.causal.data.series import Floats
from coherence.causal.fitting.equations import Equation, default_equations
from coherence.causal.fitting.gram import Column
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.fitting.memory import DEEP, MEMORY, filtered, from_moments
from coherence.causal.fitting.trials import SAME, Draw, Edge, draws, edges_of

MOST_LATENT = 12  # latent signals that are tried as measured
LARGEST = 1000  # signals times steps of a trial that keeps delays as they are


@dataclass(frozen=True)
class _Problem:
    """A graph with its delays, what of it is observed, and generic systems on it.

    `shortened`: the delays are ranks, so no way may use a delay that is not one of them.
    """

    graph: CausalGraph
    edges: tuple[Edge, ...]
    observed: frozenset[str]
    systems: tuple[Draw, ...]
    into: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)
    shortened: bool = False


def identify(
    graph: CausalGraph, observed: Sequence[str], delays: Mapping[tuple[str, str], tuple[int, ...]], step: float
) -> dict[str, Equation]:
    """effect -> the equation whose coefficients the data can tell, for every observed signal with observed causes."""
    equations = {one.effect: one for one in default_equations(graph, observed, delays)}
    edges = edges_of(graph, delays, step)
    doubtful = [effect for effect in equations if not _plain(graph, edges, frozenset(observed), effect)]
    if not doubtful:
        return equations
    relevant = _relevant(graph, doubtful)
    near = CausalGraph(relevant, tuple(one for one in graph.influences if one.effect in relevant), graph.computed)
    ways = edges_of(near, delays, step)
    large = len(relevant) * (3 * max((lag for *_, lag in ways), default=0) + 4) > LARGEST
    problem = _posed(near, _shortened(ways) if large else ways, frozenset(observed), large)
    latent = near.latent(observed)
    for effect in doubtful:
        equations[effect] = _spelled(_advised(problem, _answered(problem, effect), latent), problem, ways)
    return equations


def implied(
    graph: CausalGraph,
    observed: Sequence[str],
    delays: Mapping[tuple[str, str], tuple[int, ...]],
    step: float,
    memory: int,
) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """(other, effect, delays in steps) where the graph says: given its causes, the effect has nothing to do with it.

    Only for effects with nothing latent behind them.  What is no straight line of its causes (a step, a product) is
    related, beside the line, to every other function of them: there only signals with nothing behind both.  The past
    of a signal that does not act is always independent given the causes; its present too, unless the effect acts on it
    within the step.
    """
    edges = edges_of(graph, delays, step)
    now = CausalGraph(
        (), tuple(Influence(cause, effect) for cause, effect, lag in edges if lag == 0 and cause != effect)
    )
    for effect in observed:
        causes = set(graph.causes(effect)) - {effect}
        if not causes & set(observed) or not _plain(graph, edges, frozenset(observed), effect):
            continue
        for other in observed:
            apart = effect not in graph.curved or not graph.ancestors(other) & graph.ancestors(effect)
            if other != effect and other not in causes and apart:
                after = effect in now.ancestors(other)
                yield other, effect, tuple(range(int(after), memory + 1))


def _plain(graph: CausalGraph, edges: Sequence[Edge], observed: frozenset[str], effect: str) -> bool:
    """Is plain regression right without a trial?  Nothing latent is behind it, and no circle closes within a step."""
    behind = graph.ancestors(effect)
    if any(name not in observed for name in behind if name != effect):
        return False
    now = CausalGraph((), tuple(Influence(c, e) for c, e, lag in edges if lag == 0 and c in behind))
    return not any(effect in now.ancestors(cause) for cause in now.causes(effect))


def _relevant(graph: CausalGraph, effects: Iterable[str]) -> tuple[str, ...]:
    """What can matter for the effects: all behind them, and behind what shares a cause with them."""
    behind = frozenset().union(*(graph.ancestors(effect) for effect in effects))
    return tuple(node for node in graph.nodes if node in behind)


def _posed(graph: CausalGraph, edges: tuple[Edge, ...], observed: frozenset[str], shortened: bool) -> _Problem:
    into: dict[str, tuple[Edge, ...]] = {}
    for edge in edges:
        into[edge[1]] = (*into.get(edge[1], ()), edge)
    deepest = 2 * max((lag for *_, lag in edges), default=0) + MEMORY
    return _Problem(graph, edges, observed, draws(graph.nodes, edges, deepest, observed), into, shortened)


def _shortened(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """Long delays as short ones in the same order: what matters of a delay is which one is longer."""
    ranks = {lag: rank for rank, lag in enumerate(sorted({0, *(lag for *_, lag in edges)}))}
    return tuple((cause, effect, ranks[lag]) for cause, effect, lag in edges)


def _causes(problem: _Problem, effect: str) -> tuple[Column, ...]:
    return tuple((cause, lag) for cause, _, lag in problem.into.get(effect, ()) if cause in problem.observed)


def _answered(problem: _Problem, effect: str) -> Equation:
    """The first way that tells everything; else the regression that tells most of the effect's own causes.

    Causes of causes stand in for them only where that tells more.
    """
    best: Equation | None = None
    for way in _ways(problem, effect):
        lost = _lost(problem, way)
        direct = len(best.columns) - len(best.lost) if best is not None else 0
        if not lost and (not way.replaced or len(way.columns) > direct):
            return replace(way, lost=())
        if best is None or (not way.instruments and not way.replaced and len(lost) < len(best.lost)):
            best = replace(way, lost=lost)
    assert best is not None  # the first way always exists
    return best


def _ways(problem: _Problem, effect: str) -> Iterator[Equation]:
    columns = _causes(problem, effect)
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


def _beside(problem: _Problem, effect: str, columns: Sequence[Column]) -> tuple[Column, ...]:
    """Observed signals with a latent cause in common with the effect, and their own causes."""
    hidden = _hidden_above(problem, effect)
    shared = [
        n for n in problem.graph.nodes if n in problem.observed and n != effect and hidden & _hidden_above(problem, n)
    ]
    beside = [column for name in shared for column in ((name, 0), *_causes(problem, name))]
    return tuple(c for c in dict.fromkeys(beside) if c not in columns and c != (effect, 0))


def _news(problem: _Problem, effect: str, columns: Sequence[Column]) -> tuple[Column, ...]:
    """What each cause follows from: its own past and its causes, as far back as own parts remember."""
    news: list[Column] = []
    for name, lag in columns:
        news += [(name, lag + back) for back in range(1, MEMORY + 1)]
        news += [(c, lag + late + back) for c, late in _causes(problem, name) for back in range(MEMORY + 1)]
    deepest = problem.systems[0].depth - 1
    return tuple(c for c in dict.fromkeys(news) if c not in columns and c != (effect, 0) and c[1] <= deepest)


def _hidden_above(problem: _Problem, name: str) -> frozenset[str]:
    """Latent signals that reach a signal through latent signals only."""
    signals: set[str] = set()
    waiting = [name]
    while waiting:
        fresh = {cause for cause, *_ in problem.into.get(waiting.pop(), ())} - problem.observed - signals
        signals |= fresh
        waiting += fresh
    return frozenset(signals)


def _candidates(problem: _Problem) -> list[Column]:
    used = {(cause, lag) for cause, _, lag in problem.edges}
    return [
        c for c in dict.fromkeys([*((n, 0) for n in problem.graph.nodes), *sorted(used)]) if c[0] in problem.observed
    ]


def _instruments(problem: _Problem, effect: str, columns: Sequence[Column]) -> tuple[Column, ...]:
    """Columns that the own part of the effect does not reach and that move its causes."""
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


def _own_part(problem: _Problem, draw: Draw, effect: str, columns: Sequence[Column]) -> Floats:
    """What of the effect is not explained by the columns with their true coefficients."""
    truth = _truth(problem, draw, effect, columns)
    return np.asarray(draw.row((effect, 0)) - sum(truth[c] * draw.row(c) for c in columns), np.float64)


def _truth(problem: _Problem, draw: Draw, effect: str, columns: Sequence[Column]) -> dict[Column, float]:
    """The coefficient of each column when every other cause is replaced by its own causes, in circles too.

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


def _replaced(problem: _Problem, effect: str, columns: Sequence[Column]) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Causes whose own part is tied to the effect's are replaced by their causes, until none is left.

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


def _lost(problem: _Problem, way: Equation) -> tuple[Column, ...]:
    """The columns whose true coefficient the way does not return on every system."""
    lasting = _lasting(problem, way.effect)
    right = np.array([name not in lasting for name, _ in way.columns], bool)
    for draw in problem.systems:
        truth = _truth(problem, draw, way.effect, way.columns)
        wanted = np.array([truth[column] for column in way.columns])
        right &= np.abs(_estimated(draw, way) - wanted) <= 1e-5 * (1 + np.abs(wanted))
    return tuple(column for column, good in zip(way.columns, right.tolist(), strict=True) if not good)


def _estimated(draw: Draw, way: Equation) -> Floats:
    """The estimate from exact moments."""
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


def _advised(problem: _Problem, equation: Equation, latent: Sequence[str]) -> Equation:
    """A refusal says why, and what measurement would lift it."""
    if not equation.lost:
        return equation
    helps = tuple(name for name in latent[:MOST_LATENT] if _lifts(problem, equation, name))
    why = _reason(problem, equation.effect, equation.lost)
    return replace(equation, refused=why, measure=helps or _other_help(problem, equation.effect, equation.lost))


def _lifts(problem: _Problem, one: Equation, name: str) -> bool:
    """Would the effect be told completely if this latent signal were measured?"""
    seen = problem.observed | {name}
    return not _answered(replace(problem, observed=seen), one.effect).lost


def _reason(problem: _Problem, effect: str, lost: Sequence[Column]) -> str:
    """Why, in a user's words: one clause for each kind of trouble."""
    lasting = _lasting(problem, effect)
    back: list[str] = []
    between: dict[str, list[str]] = {}
    shared: dict[str, list[str]] = {}
    rest: list[str] = []
    past = ""
    for cause in dict.fromkeys(name for name, _ in lost):
        hidden = ", ".join(sorted(_hidden_behind(problem, cause) & _hidden_behind(problem, effect)))
        if cause != effect and effect in _sources_now(problem, cause):
            back.append(cause)
        elif cause == effect:
            past = f"what {effect} keeps of its past and what keeps acting on it look alike"
        elif cause in lasting:
            between.setdefault(", ".join(lasting[cause]), []).append(cause)
        elif hidden:
            shared.setdefault(hidden, []).append(cause)
        else:
            rest.append(cause)
    reasons = [f"{_and(back)} and {effect} act on each other within one step: which moved first cannot be seen"] * bool(
        back
    )
    reasons += [
        f"{_and(c)} {_act(c)} on {effect} through {h}, which is not measured and keeps its past"
        for h, c in between.items()
    ]
    reasons += [f"{_and(c)} and {effect} have a common cause that is not measured: {h}" for h, c in shared.items()]
    reasons += [past] * bool(past)
    reasons += [f"{_and(rest)} cannot be told apart from what else acts on {effect}"] * bool(rest)
    return "; ".join(reasons)


def _and(names: Sequence[str]) -> str:
    return " and ".join(names)


def _act(names: Sequence[str]) -> str:
    return "act" if len(names) > 1 else "acts"


def _hidden_behind(problem: _Problem, name: str) -> frozenset[str]:
    return frozenset(problem.graph.ancestors(name)) - problem.observed - {name}


def _sources_now(problem: _Problem, name: str) -> set[str]:
    """What acts on a signal within the same step, through any way."""
    sources: set[str] = set()
    waiting = [name]
    while waiting:
        fresh = {cause for cause, _, lag in problem.into.get(waiting.pop(), ()) if lag == 0} - sources
        sources |= fresh
        waiting += fresh
    return sources


def _other_help(problem: _Problem, effect: str, lost: Sequence[Column]) -> tuple[str, ...]:
    back = [cause for cause, _ in lost if cause != effect and effect in _sources_now(problem, cause)]
    if back:
        often = f"{back[0]} and {effect} at a finer step, more often than they act on each other"
        return often, f"something that acts on {back[0]} and not on {effect}"
    return (f"something that acts on {lost[0][0]}, and on {effect} through it alone",)


def _lasting(problem: _Problem, effect: str) -> dict[str, tuple[str, ...]]:
    """Observed causes that act through unmeasured signals that keep their past, and these signals.

    Such a cause acts at every delay: its coefficients at a few delays do not add up to what it does in the end.
    """
    hidden = _hidden_above(problem, effect)
    lasting: dict[str, set[str]] = {}
    for name in hidden:
        above = _hidden_above(problem, name)
        if name in above:
            for node in (name, *above):
                for cause, *_ in problem.into.get(node, ()):
                    if cause in problem.observed:
                        lasting.setdefault(cause, set()).add(name)
    return {cause: tuple(sorted(names)) for cause, names in lasting.items()}


def _spelled(equation: Equation, problem: _Problem, ways: Sequence[Edge]) -> Equation:
    """The delays as they are, not as they were shortened for the trial."""
    if not problem.shortened:
        return equation
    delays = {0: 0} | {short[2]: way[2] for short, way in zip(problem.edges, ways, strict=True)}

    def spelled(columns: Iterable[Column]) -> tuple[Column, ...]:
        return tuple((name, delays[lag]) for name, lag in columns)

    controls = () if equation.memory else spelled(equation.controls)
    worded = replace(
        equation,
        columns=spelled(equation.columns),
        instruments=spelled(equation.instruments),
        controls=controls,
        lost=spelled(equation.lost),
    )
    return filtered(worded) if equation.memory else worded
