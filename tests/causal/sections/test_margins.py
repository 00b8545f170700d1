"""What `coherence fit` says of promises whose margins shrink."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.sections import margins
from tests.causal.sections.contexts import context, lines, tables

DESIGN = """coherence: 1
workload: {r: {rate: 100 req/s}}
components: {gate: {latency: cache.pieces * each, each: 0 .. 100}, cache: {pieces: 0 .. 9}}
promises: {sla: always gate.latency <= 400}
"""


@pytest.mark.parametrize(("grows", "until"), [(0.1, "4 h"), (0.0, "no drift is seen"), (-0.1, "does not shrink")])
def test_a_promise_is_a_row(grows: float, until: str) -> None:
    pieces = 100 + grows * np.arange(600) + np.random.default_rng(2).normal(0, 1, 600)
    section = margins.answer(context(DESIGN, {"cache.pieces": pieces, "gate.latency": 2 * pieces}))
    (table,) = tables(section)
    assert table.rows[0][:2] == ("sla", "0 of 600")
    assert until in table.rows[0][-1] if not grows > 0 else "[" in table.rows[0][-1]
    assert lines(section) == ["no load is measured: a drift may be that of load"]
    assert section is not None
    (row,) = section.data["promised_margins"]
    assert row["drift"]["shrinks"] == (grows > 0)
    if grows > 0:
        left = 400 - 2 * (100 + grows * 599)
        assert row["drift"]["time_to_breach_s"]["value"] == pytest.approx(left / (2 * grows / 10), rel=0.05)


def test_promises_that_are_not_followed_are_named() -> None:
    section = margins.answer(context(DESIGN, {"cache.pieces": np.arange(9.0)}))
    assert lines(section) == ["not followed: sla (gate.latency: no column, and no one number in the design)"]
    assert section is not None
    assert [one["promise"] for one in section.data["not_followed"]] == ["sla"]


def test_a_design_without_promises_has_no_section() -> None:
    bare = DESIGN[: DESIGN.index("promises")]
    assert margins.answer(context(bare, {"cache.pieces": np.arange(9.0)})) is None
