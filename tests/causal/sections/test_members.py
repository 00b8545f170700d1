"""What `coherence fit` says of a fleet whose members have series of their own."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.sections import members
from coherence.causal.session.member_strengths import members_of, pooled
from tests.causal.sections.contexts import context, lines, tables

DESIGN = """coherence: 1
components: {pod: {latency: pod.queue * each + node.heat * warm, each: 0 .. 10, warm: 0 .. 10}}
"""
TRUE = (1.0, 1.5, 2.0, 2.5, 3.0, 2.0)


def fleet(rows: int = 400, noise: float = 1.0) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    rng = np.random.default_rng(5)
    heat = rng.normal(0, 1, rows)
    columns = {"node.heat": heat}
    for number, strength in enumerate(TRUE):
        queue = rng.normal(0, 1, rows)
        columns[f'pod.queue{{pod="{number}"}}'] = queue
        columns[f'pod.latency{{pod="{number}"}}'] = strength * queue + 3 * heat + noise * rng.normal(0, 1, rows)
    return columns


def test_members_are_pooled_and_the_one_that_differs_most_is_named() -> None:
    section = members.answer(context(DESIGN, fleet()))
    (words,) = lines(section)
    assert words.startswith("6 members have series of their own")
    assert section is not None
    (table,) = tables(section)
    found = {row[0]: row for row in table.rows}
    assert set(found) == {"pod.queue", "node.heat"}
    assert found["pod.queue"][-1].startswith(('{pod="0"}', '{pod="4"}'))
    queue = next(one for one in section.data["influences"] if one["cause"] == "pod.queue")
    assert queue["mean"]["low"] < 2 < queue["mean"]["high"]
    assert queue["standard_deviation_between_members"] == pytest.approx(np.std(TRUE, ddof=1), rel=0.2)
    for number, strength in enumerate(TRUE):
        assert queue["strengths"][f'{{pod="{number}"}}']["value"] == pytest.approx(strength, abs=0.2)


def test_members_that_do_not_differ_are_drawn_to_their_mean() -> None:
    heat = next(one for one in members.answer(context(DESIGN, fleet())).data["influences"]  # type: ignore[union-attr]
                if one["cause"] == "node.heat")  # fmt: skip
    values = [one["value"] for one in heat["strengths"].values()]
    assert np.ptp(values) < 0.1
    assert heat["mean"]["value"] == pytest.approx(3, abs=0.1)


def test_one_column_for_a_signal_has_no_members() -> None:
    columns = fleet()
    plain = {"pod.queue": columns['pod.queue{pod="0"}'], "pod.latency": columns['pod.latency{pod="0"}']}
    assert members.answer(context(DESIGN, plain)) is None
    two = {name: column for name, column in columns.items() if '"0"' in name or '"1"' in name}
    assert members.answer(context(DESIGN, two)) is None


def test_each_member_has_what_is_common() -> None:
    whole = context(DESIGN, fleet()).whole
    record = members_of(whole, ["pod.queue", "pod.latency", "node.heat"])
    assert len(record) == 6
    assert record['{pod="3"}'].names == ("pod.queue", "pod.latency", "node.heat")
    assert record['{pod="3"}']["pod.queue"] == pytest.approx(whole['pod.queue{pod="3"}'])


def test_pooling_is_that_of_statsmodels() -> None:
    from statsmodels.stats.meta_analysis import combine_effects

    rng = np.random.default_rng(2)
    for between in (0.0, 0.5):
        errors = rng.uniform(0.1, 0.6, 9)
        values = 2 + between * rng.normal(size=9) + errors * rng.normal(size=9)
        mean, spread, _ = pooled(values, errors)
        other = combine_effects(values, errors**2, method_re="dl", use_t=True)
        if other.tau2 < 0:  # there it goes on with a negative variance
            assert spread == 0
            continue
        assert spread**2 == pytest.approx(other.tau2)
        assert mean.value == pytest.approx(other.mean_effect_re)
        if other.scale_hksj_re >= 1:
            assert mean.error == pytest.approx(other.sd_eff_w_re_hksj)


def test_intervals_of_the_mean_and_of_members_hold() -> None:
    rng = np.random.default_rng(7)
    missed, own_missed = 0, 0
    for _ in range(400):
        errors = rng.uniform(0.2, 0.6, 12)
        truth = 2 + 0.4 * rng.normal(size=12)
        mean, _, drawn = pooled(truth + errors * rng.normal(size=12), errors)
        missed += not mean.low <= 2 <= mean.high
        own_missed += sum(not one.low <= true <= one.high for one, true in zip(drawn, truth, strict=True))
    assert missed <= 34  # 20 expected of 400, and three standard errors
    assert own_missed / 4800 <= 0.09  # the spread between members is itself an estimate
