"""Laws and measured quantiles of services that are no distribution are refused."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.language.distributions import quantile_points, spreads
from coherence.language.reading import read_text

PLAIN = """\
coherence: 1
workload: {web: {rate: 10 req/s, service: {mean: 40 ms, cv: 1}}}
components: {s: {copies: 1}}
calls: [{from: web, to: s}]
"""


def problems(text: str) -> str:
    with pytest.raises(InputError) as refused:
        read_text(text, "d.yaml")
    return str(refused.value)


def test_quantiles_are_ordered_by_their_share() -> None:
    stated = "{mean: 30 ms, quantiles: {100 %: 70 ms, 0 %: 10 ms, 50 %: 20 ms}}"
    ((what, spread),) = spreads(read_text(PLAIN.replace("{mean: 40 ms, cv: 1}", stated), "d.yaml"))
    assert what == "service of web"
    assert [(float(share), time.text) for share, time in quantile_points(spread)] == [
        (0.0, "10 ms"), (0.5, "20 ms"), (1.0, "70 ms"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ("{mean: 40 ms, cv: 2, law: exponential}", "there is no exponential law with cv 2"),
        ("{mean: 40 ms, law: uniform}", "there is no uniform law with cv 1"),
        ("{mean: 40 ms, cv: 1, law: hyperexponential}", "there is no hyperexponential law with cv 1"),
        ("{mean: 40 ms, cv: 0.5, law: constant}", "there is no constant law with cv 0.5"),
        ("{mean: 40 ms, quantiles: {50 %: 40 ms}}", "do not reach from 0 % to 100 %"),
        ("{mean: 40 ms, quantiles: {0 %: 50 ms, 100 %: 30 ms}}", "do not rise"),
        ("{mean: 40 ms, quantiles: {0 %: 0 ms, 100 %: 100 ms}}", "the mean of these quantiles is 50 ms, not 40 ms"),
        ("{mean: 40 ms, quantiles: {0 %: 0 ms, 120 %: 80 ms}}", "is not a share"),
        ("{mean: 40 ms, cv: 1, quantiles: {0 %: 0 ms, 100 %: 80 ms}}", "only one of them can count"),
        ("{mean: 40 ms, law: gamma, quantiles: {0 %: 0 ms, 100 %: 80 ms}}", "has a law beside its quantiles"),
    ],
)
def test_laws_and_quantiles_that_are_no_distribution_are_refused(stated: str, message: str) -> None:
    assert message in problems(PLAIN.replace("{mean: 40 ms, cv: 1}", stated))
