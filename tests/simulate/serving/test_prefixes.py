"""Names of the blocks at the head of prompts."""

from __future__ import annotations

import pytest

from coherence.base.errors import UsageError
from coherence.language.reading import read_text
from coherence.language.workloads import Workload
from coherence.simulate.serving.prefixes import APART, prefixes_of
from coherence.simulate.serving.trace import ArrivalTrace


def workload(prefix: str = "") -> Workload:
    return read_text(f"coherence: 1\nworkload: {{chat: {{rate: 1 req/s{prefix}}}}}\n", "d.yaml").workload["chat"]


def test_a_workload_without_a_prefix_has_no_names() -> None:
    assert prefixes_of(16, workload(), None, 2, 0) == ((), ())


def test_full_blocks_of_a_shared_prefix_have_the_same_names_in_each_prompt() -> None:
    assert prefixes_of(16, workload(", prefix: 40 token"), None, 2, 1) == ((APART, APART + 1),) * 2


def test_a_name_of_a_file_stands_for_several_blocks() -> None:
    trace = ArrivalTrace((0.0, 1.0), (60, 40), (1, 1), ((7, 9), (7, 5)), 32)
    heads = prefixes_of(16, workload(), trace, 2, 0)
    assert heads == ((0, 1, 2, 3), (0, 1, 4, 5))


def test_names_of_pieces_that_blocks_do_not_divide_are_refused() -> None:
    with pytest.raises(UsageError, match="prefixes of chat are named by 32 tokens, and blocks hold 24"):
        prefixes_of(24, workload(), ArrivalTrace((0.0,), (60,), (1,), ((7, 9),), 32), 1, 0)
