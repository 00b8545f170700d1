"""Runs of whole families by hand: counts and contradictions go on where a log ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.second_interpreter.__main__ import examine


def lines_of(seeds: range, counts: Counter[str]) -> Iterator[str]:
    for seed in seeds:
        counts["even" if seed % 2 == 0 else "odd"] += 1
        if seed % 5 == 0:
            yield f"seed {seed}"


def test_a_run_goes_on_after_the_last_design_of_its_log(tmp_path: Path) -> None:
    log = tmp_path / "family.log"
    assert examine(lines_of, range(3, 6), log) == (Counter(odd=2, even=1), 1)
    assert examine(lines_of, range(3, 11), log) == (Counter(odd=4, even=4), 2)  # 5 and 10, each looked at once
    assert len(log.read_text(encoding="utf-8").splitlines()) == 8
    assert examine(lines_of, range(3, 11), None) == (Counter(odd=4, even=4), 2)
