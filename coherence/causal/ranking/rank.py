"""Ranks the root causes of an incident: which mechanism changed, and how much of the target's excess it explains.

A signal's excess over the reference is first explained by the excess of its causes; only what is left is its own.
The own parts, carried to the target along the graph, split the target's excess exactly.  Each part is then shrunk by
what the same split gives in normal windows of the same length, and the same procedure in normal windows says how
often so large a part comes without any incident: above `alpha`, the answer is "nothing found".

The reference is the window itself (its mean) where the target rises and falls within it more than in normal windows:
levels may have drifted since the normal data were taken.  Else it is the mean of the normal data.
SOURCE: mean and variance shares of a linear network; positive-part shrinkage of James and Stein; permutation p-values
of Phipson and Smyth 2010.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from coherence.causal.data.series import Excluded, Floats, Series
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.ranking import slopes as linear
from coherence.causal.ranking.setting import RankingSetting, setting_of
from coherence.causal.ranking.slopes import Slopes

ALPHA = 0.05
WINDOWS = 400  # normal windows at most
SWINGS = 0.95  # quantile of normal windows above which the target's own swing is the incident
NEGLIGIBLE = 0.1  # of the usual excess of the target
SHOWS = 0.1  # share from which a part takes part in the rule of slow hosts


@dataclass(frozen=True)
class Ranked:
    """One possible root cause.  `share` of the target's excess (they sum to 1); `score` and `normal` in its unit.

    `score`: the part shrunk by its noise; `normal`: the root mean square of the same part in normal windows.
    """

    node: str
    score: float
    share: float
    part: float
    normal: float
    words: str


@dataclass(frozen=True)
class Ranking:
    """Causes, largest first.  `excess`: root mean square excess of the target; `p`: of so large a part by chance."""

    target: str
    causes: tuple[Ranked, ...]
    excess: float
    p: float
    alpha: float
    reference: str  # "the window" or "normal data"
    windows: int
    unit: str = "1"
    excluded: tuple[Excluded, ...] = field(default=())

    @property
    def claims_cause(self) -> bool:
        """Whether a cause is claimed at all."""
        return self.p <= self.alpha and bool(self.causes)

    @property
    def names(self) -> tuple[str, ...]:
        """The ranked nodes, most likely first."""
        return tuple(cause.node for cause in self.causes)


def rank(  # noqa: PLR0913  (two windows, their graph, and how it is read)
    normal: Series,
    incident: Series,
    causes: Mapping[str, Iterable[str | tuple[str, int]]],
    target: str,
    *,
    calls: bool = False,
    measured_by: Mapping[str, str] | None = None,
    alpha: float = ALPHA,
    reference: str | None = None,
) -> Ranking:
    """Rank what may have caused the excess of `target` in `incident`.

    `causes`: effect -> names, or (name, steps before).  `calls`: causes are costs contained in their effect's (time of
    callees in a caller's): slopes are between 0 and 1 and learnt from both windows; else from the normal data alone.
    `measured_by`: signals that their caller measures: two or more that rise with it speak of the caller.
    `reference`: "normal data" where these are of just before the incident, so that levels have not drifted since.
    Raises UsageError where the target is absent or a window is too short.
    """
    setting = setting_of(normal, incident, causes, target, calls)
    excess, over = (setting.now, reference) if reference else _reference(setting)
    scale = np.sqrt(len(excess))
    parts = _parts(setting, excess) / scale
    null = np.array([_parts(setting, one) for one in _null(setting, over)]).reshape(-1, len(setting.names)) / scale
    noise = np.sqrt((null**2).mean(axis=0)) if len(null) else np.full(len(setting.names), np.inf)
    hosts = {setting.names.index(a): setting.names.index(b) for a, b in _known(measured_by, setting.names)}
    scores = _with_hosts(_shrunk(parts, noise), hosts)
    p = _p(parts, null, noise, 1 if reference else 2)
    size = float(np.linalg.norm(excess[:, setting.target]) / scale)
    unit = dict(incident.units).get(target, "1")
    order = np.argsort(-scores, kind="stable")
    ranked = [_ranked(setting, i, scores, parts, noise, size, unit) for i in order.tolist() if scores[i] > 0]
    missing = (*normal.excluded, *incident.excluded, *setting.excluded)
    return Ranking(target, tuple(ranked), size, p, alpha, over, len(null), unit, tuple(dict.fromkeys(missing)))


def causes_of(series: Series, graph: CausalGraph) -> dict[str, tuple[tuple[str, int], ...]]:
    """The declared influences of a candidate graph, as `rank` takes them: effect -> (cause, steps before)."""
    from coherence.causal.fitting.equations import delays_of

    delays = delays_of(series, graph.bypassing(series.names))
    causes: dict[str, tuple[tuple[str, int], ...]] = {}
    for (cause, effect), lags in delays.items():
        causes[effect] = causes.get(effect, ()) + tuple((cause, lag) for lag in lags if (cause, lag) != (effect, 0))
    return causes


def render_ranking(ranking: Ranking, *, most: int = 5) -> list[str]:
    """The answer as lines of text."""
    if not ranking.claims_cause:
        why = f"p = {ranking.p:.3g} > {ranking.alpha:g}" if ranking.causes else "nothing exceeds its normal spread"
        return [f"{ranking.target}: no cause found ({why} over {ranking.windows} normal windows)"]
    head = (
        f"{ranking.target}: {ranking.excess:.4g} {ranking.unit} beyond {ranking.reference} (root mean square), "
        f"p = {ranking.p:.2g} over {ranking.windows} normal windows"
    )
    lines = [f"{place}. {cause.node}: {cause.words}" for place, cause in enumerate(ranking.causes[:most], start=1)]
    return [head, *lines, *(f"left out: {one.what}: {one.why}" for one in ranking.excluded)]


def _windows(setting: RankingSetting) -> Iterator[Floats]:
    """Normal windows as long as the incident: side by side, overlapping where they would be few."""
    length, render_ranking = len(setting.now), len(setting.before)
    last = render_ranking - length
    stride = max(1, min(length, last // 100), last // WINDOWS)
    for start in range(0, last + 1, stride):
        yield setting.before[start : start + length]


def _reference(setting: RankingSetting) -> tuple[Floats, str]:
    """(excess in the incident, over what): over the window's own mean if the target swings in it, else over normal."""
    own = setting.now - setting.now.mean(axis=0)
    swings = [
        float(np.linalg.norm(window[:, setting.target] - window[:, setting.target].mean()))
        for window in _windows(setting)
    ]
    if np.linalg.norm(own[:, setting.target]) > np.quantile(swings, SWINGS):
        return own, "the window"
    return setting.now, "normal data"


def _null(setting: RankingSetting, reference: str) -> Iterator[Floats]:
    for window in _windows(setting):
        yield window - window.mean(axis=0) if reference == "the window" else window


def _parts(setting: RankingSetting, excess: Floats) -> Floats:
    """What each signal's own part adds to the target's excess, along the direction of that excess."""
    length = float(np.linalg.norm(excess[:, setting.target]))
    if not length:
        return np.zeros(len(setting.names))
    parts = setting.steady
    if setting.calls:
        parts = tuple(_pooled(setting, excess, effect) for effect in range(len(setting.names)))
    slopes = Slopes(setting.causes, parts).matrices()
    return linear.split(excess, slopes, setting.target, excess[:, setting.target] / length)


def _pooled(setting: RankingSetting, excess: Floats, effect: int) -> Floats:
    causes = setting.causes[effect]
    if not causes:
        return setting.steady[effect]
    gram, right = linear.moments(excess, causes, effect)
    before, beside = setting.sums[effect]
    return linear.least(before + gram, beside + right, (0.0, 1.0), setting.steady[effect])


def _p(parts: Floats, null: Floats, noise: Floats, references: int) -> float:
    """How often a normal window has a part that stands out as much from its own normal spread.

    A part that is small beside the usual excess of the target is no cause of it, however rare.
    Once for each of the references that were possible.
    """
    usual = noise + NEGLIGIBLE * float(np.sqrt((null.sum(axis=1) ** 2).mean())) if len(null) else noise
    with np.errstate(invalid="ignore", divide="ignore"):
        stands, others = np.nan_to_num(parts / usual).max(), np.nan_to_num(null / usual).max(axis=1, initial=0.0)
    return min(1.0, references * (1 + int((others >= stands * (1 - 1e-12)).sum())) / (1 + len(null)))


def _shrunk(parts: Floats, noise: Floats) -> Floats:
    """(1 - noise^2 / part^2)+ part, for parts in the direction of the excess."""
    size = np.maximum(parts, 1e-300)
    return np.where(parts > noise, parts * (1 - np.minimum(noise / size, 1.0) ** 2), 0.0)


def _known(measured_by: Mapping[str, str] | None, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield from ((one, by) for one, by in (measured_by or {}).items() if one in names and by in names)


def _with_hosts(scores: Floats, hosts: Mapping[int, int]) -> Floats:
    """A slow host shows in every call it makes: two or more such parts count for the host that measured them."""
    raised = scores.copy()
    for host in set(hosts.values()):
        members = [one for one, by in hosts.items() if by == host and scores[one] > 0]
        whole = scores[host] + sum(scores[member] for member in members)
        showing = [member for member in members if scores[member] >= SHOWS * whole]
        if len(showing) >= 2:
            raised[host] += sum(scores[one] for one in showing)
    return raised


def _ranked(
    setting: RankingSetting, index: int, scores: Floats, parts: Floats, noise: Floats, size: float, unit: str
) -> Ranked:
    part, usual, score = float(parts[index]), float(noise[index]), float(scores[index])
    share = part / size if size else 0.0
    times = f"{part / usual:.3g} times its normal spread" if usual > 0 else "normally never there"
    words = f"{part:.4g} of {size:.4g} {unit} ({share:.0%}) come from itself, {times}"
    if score > part:
        words += f"; with the calls that it measures itself {score:.4g} {unit}"
    if setting.causes[index] and index != setting.target:
        words += "; its own causes do not explain it"
    return Ranked(setting.names[index], score, share, part, usual, words)
