"""The loss as a signal or an expression of signals: which, with which slopes, refused why."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.data.series import Series
from coherence.causal.fitting.loss_expression import LossExpression, loss_of
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from tests.causal.systems import graph, late

MODEL = elaborate(
    read_text("coherence: 1\ncomponents: {web: {wait: 0 .. 9, price: 3, guess: 1 .. 2, tries: 0 .. 9}}\n")
)
SERIES = Series(("web.wait", "web.tries"), np.array([[1.0, 2.0], [3.0, 5.0], [2.0, 4.0]]), 10.0, 7.0)


def loss(text: str) -> LossExpression:
    return loss_of(text, SERIES, MODEL)


@pytest.mark.parametrize("text", ["web.wait", "wait"])
def test_a_measured_signal_is_its_own_loss(text: str) -> None:
    found = loss(text)
    assert (found.name, found.tree, found.equation) == ("web.wait", None, None)
    assert found.values.tolist() == [1, 3, 2]
    assert found.joined(SERIES) is SERIES
    assert found.added(graph(late("web.tries", "web.wait"))).nodes == ("web.tries", "web.wait")
    assert found.added(graph(nodes=("x",))).nodes == ("x", "web.wait")


@pytest.mark.parametrize(
    ("text", "values", "slopes"),
    [
        ("2 * wait - tries", [0, 1, 0], {"web.wait": 2, "web.tries": -1}),
        ("wait * price + 5", [8, 14, 11], {"web.wait": 3}),
        ("wait / 4", [0.25, 0.75, 0.5], {"web.wait": 0.25}),
        ("wait * tries", [2, 15, 8], None),
        ("max(wait, tries)", [2, 5, 4], None),
        ("wait / tries", [0.5, 0.6, 0.5], None),
        ("max(wait - 100, 0) + tries", [2, 5, 4], None),
        ("abs(wait)", [1, 3, 2], None),
    ],
)
def test_an_expression_is_computed_and_linear_where_it_is(
    text: str, values: list[float], slopes: dict[str, float] | None
) -> None:
    found = loss(text)
    assert found.name == text
    assert found.values.tolist() == pytest.approx(values)
    if slopes is None:
        assert found.equation is None or "100" in text
    else:
        assert found.equation is not None
        assert dict(zip([name for name, _ in found.equation.columns], found.equation.exact, strict=True)) == {
            name: pytest.approx(slope, abs=1e-9) for name, slope in slopes.items()
        }


def test_a_computed_loss_is_one_more_signal_and_its_parts_act_on_it() -> None:
    found = loss("2 * wait - tries")
    whole = found.added(graph(late("web.tries", "web.wait"), nodes=("web.wait",)))
    assert whole.nodes == ("web.wait", "web.tries", "2 * wait - tries")
    assert [(one.cause, one.effect, one.by) for one in whole.influences[1:]] == [
        ("web.wait", "2 * wait - tries", "loss"), ("web.tries", "2 * wait - tries", "loss"),
    ]  # fmt: skip
    series = found.joined(SERIES)
    assert series.names == ("web.wait", "web.tries", "2 * wait - tries")
    assert series["2 * wait - tries"].tolist() == [0, 1, 0]
    assert (series.step, series.start) == (10, 7)


def test_what_the_loss_reads_and_the_fit_left_out_stands_beside() -> None:
    found = LossExpression(
        "y", np.ones(3), loss("wait + tries").tree, beside={"z": np.zeros(3), "web.wait": np.ones(3)}
    )
    assert found.joined(SERIES).names == ("web.wait", "web.tries", "z", "y")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("waiting", "there is no signal 'waiting'"),
        ("wait + guess", "there is no signal 'guess'"),  # a range is no number
        ("price * 2", "does not depend on any signal"),
        ("price", "does not depend on any signal"),
        ("wait +", "cannot read 'wait [+]'"),
        ("mean_over(wait, 5 s)", "'mean_over' is not known here"),
        ("delayed(wait, 5 s) + tries", "'delayed' is not known here"),
        ("1 if (wait > 1) for 5 s else 0", "'for' is not known here"),
    ],
)
def test_what_is_no_loss_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        loss(text)
