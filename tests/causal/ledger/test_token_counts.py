"""Tokens of telemetry: sums over workloads, what is counted on one side alone, and their price."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.data.series import Series
from coherence.causal.ledger.token_counts import TokenCounts, token_counts, token_signals
from coherence.language.reading import read_text

DESIGN = "coherence: 1\nworkload: {chat: {rate: 3 req/s}, code: {rate: 1 req/s}}\n"


def counted(prices: str = "", **columns: float) -> TokenCounts:
    """Counts over ten steps of 5 s."""
    names = tuple(name.replace("_tokens", ".tokens") for name in columns)
    series = Series(names, np.tile(list(columns.values()), (10, 1)), 5.0)
    return token_counts(read_text(DESIGN + prices, "design.yaml"), series)


def test_tokens_of_all_workloads_add_up_over_time() -> None:
    both = counted(chat_tokens_generated=4, chat_tokens_delivered=3, code_tokens_generated=2, code_tokens_delivered=1)
    assert both == TokenCounts(300, 200, None)


def test_a_workload_that_is_counted_on_one_side_alone_leaves_the_other_side_open() -> None:
    assert counted(chat_tokens_generated=4, chat_tokens_delivered=3, code_tokens_generated=2) == TokenCounts(
        300, None, None
    )
    assert counted(other=1) == TokenCounts(None, None, None)


@pytest.mark.parametrize(
    ("price", "expected"),
    [("0.000002 usd/token", 2e-6), ("1 usd", None), ("2 usd/h", None), ("1 usd/token .. 2 usd/token", None)],
)
def test_a_price_is_one_number_of_dollars_for_a_token(price: str, expected: float | None) -> None:
    assert counted(f"prices: {{token: {price}}}\n", chat_tokens_generated=1).price == expected


def test_times_without_a_value_of_every_count_take_no_part() -> None:
    values = np.array([[4.0, 3.0], [np.nan, 3.0], [4.0, np.nan], [4.0, 3.0]])
    series = Series(("chat.tokens_generated", "chat.tokens_delivered"), values, 5.0)
    design = read_text(DESIGN, "design.yaml")
    assert token_counts(design, series) == TokenCounts(40, 30, None)
    assert token_signals(design, series) == series.names
