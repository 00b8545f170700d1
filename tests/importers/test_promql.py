"""PromQL: metric names with their windows, steps and offsets; what is not understood is None."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.importers._promql import Selector, Window, seconds, selectors


@pytest.mark.parametrize(
    ("text", "expected"),
    [("5m", 300), ("1h30m", 5400), ("100ms", Fraction(1, 10)), ("1d", 86400), ("5", None), ("", None)],
)
def test_durations(text: str, expected: Fraction | None) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vllm:num_requests_waiting", [Selector("vllm:num_requests_waiting")]),
        ('sum(rate(http_requests_total{app="web[1m]"}[5m])) by (pod)', [
            Selector("http_requests_total", (Window("rate", Fraction(300)),)),
        ]),
        ("sum by (le) (a) / on(pod) group_left(x) count(b)", [Selector("a"), Selector("b")]),
        ("max_over_time(rate(a[5m])[30m:1m])", [
            Selector("a", (Window("rate", Fraction(300)), Window("max_over_time", Fraction(1800), Fraction(60)))),
        ]),
        ("avg_over_time(a[10m:])", [Selector("a", (Window("avg_over_time", Fraction(600), Fraction(0)),))]),
        ("rate(a[1m] offset 5m) + b", [
            Selector("a", (Window("rate", Fraction(60)),), is_shifted=True), Selector("b"),
        ]),
        ("a offset -5m", [Selector("a", (), is_shifted=True)]),
        ("a @ start()", [Selector("a", (), is_shifted=True)]),
        ('{__name__="a:b", x!="y"}', [Selector("a:b")]),
        ('{__name__=~"^a.*"}', [Selector("")]),
        ("histogram_quantile(0.95, sum(rate(a_bucket[2m])) by (le))", [
            Selector("a_bucket", (Window("rate", Fraction(120)),)),
        ]),
        ("a > bool 0 and b unless vector(1) # c", [Selector("a"), Selector("b")]),
        ("count(up == 0)", [Selector("up")]),
        ("1 + 2", []),
    ],
)  # fmt: skip
def test_selectors(text: str, expected: list[Selector]) -> None:
    assert selectors(text) == tuple(expected)


@pytest.mark.parametrize(
    "text", ["rate(a[5m)", "a)", "(a", "a[soon]", "a[5m:1m:1m]", "a{", '"open', "a ? b", "a[0s]", "a]"]
)
def test_what_is_not_understood_is_none(text: str) -> None:
    assert selectors(text) is None


@given(st.text(alphabet="ab_:(){}[],=+-@ \"'5ms#offsetrate", max_size=60))
def test_any_text_is_read_or_none(text: str) -> None:
    read = selectors(text)
    assert read is None or all(window.length > 0 for selector in read for window in selector.windows)


def test_deep_nesting_is_not_followed() -> None:
    assert selectors("(" * 5000 + "a" + ")" * 5000) is None
