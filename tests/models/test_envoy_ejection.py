"""The caps on ejected hosts against Envoy's rule of each version, host by host.

SOURCE: Envoy, source/common/upstream/outlier_detection_impl.cc, ejectHost.  Before 1.27: ejected while 100 x ejected /
hosts is below the percentage.  1.27 (pull request 27624): with the host the share stays within it, or nobody is ejected
yet.  From 1.28 (pull request 27909, release notes: max_ejection_percent is always respected) the share alone, unless
always_eject_one_host (from 1.31) says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.facts.limits import at_members, cap
from tests.draws import source, trace_counts
from tests.paths import ROOT

PARTS = ("ejection_cap", "ejection_cap_before_1_27")
MOST_HOSTS = 40
ROWS = json.loads((ROOT / "tests/data/models/envoy.json").read_text(encoding="utf-8"))["ejection"]
Rule = Callable[[int, int, int], bool]

RULES: dict[str, tuple[str, Rule]] = {
    "before 1.27": ("uses: ejection_cap_before_1_27", lambda out, hosts, most: 100.0 * out / hosts < most),
    "1.27": (
        "uses: ejection_cap, but_at_least: 1",
        lambda out, hosts, most: out == 0 or 100.0 * (out + 1) / hosts <= most,
    ),
    "from 1.28": ("uses: ejection_cap", lambda out, hosts, most: 100.0 * (out + 1) / hosts <= most),
    "always_eject_one_host": (
        "uses: ejection_cap, but_at_least: 1",
        lambda out, hosts, most: out == 0 or 100.0 * (out + 1) / hosts <= most,
    ),
}


def caps(part: str, percent: int) -> list[Fraction]:
    """Returns the cap of the part for 1, 2, ... hosts."""
    text = (
        f"coherence: 1\ncomponents: {{web: {{copies: 1 .. {MOST_HOSTS}}}}}\n"
        f"limits: {{cap: {{{part}, counts: web.ejected, at_most: {percent} % of web.copies}}}}\n"
    )
    facts = known(Subject(read_text(text)))
    tree = cap(facts, facts.design.limits["cap"])
    assert tree is not None
    values = [at_members(facts, tree, "web", hosts) for hosts in range(1, MOST_HOSTS + 1)]
    return [value for value in values if value is not None]


@pytest.mark.parametrize("version", RULES)
@trace_counts(100, parts=1, of=PARTS)
def test_a_host_is_ejected_where_the_part_lets_one_more_out(version: str, traces: int) -> None:
    part, rule = RULES[version]
    rng = source(3)
    stated = {percent: caps(part, percent) for percent in {*range(0, 101, 10), 1, 33, 34, 51, 67, 75, 99}}
    for _ in range(traces):
        percent = rng.choice(sorted(stated))
        hosts, out = rng.randint(1, MOST_HOSTS), 0
        for _ in range(60):
            step = rng.random()
            if step < 0.15:  # the membership changes; hosts that leave take their ejection along
                hosts = rng.randint(max(1, out), MOST_HOSTS)
            elif step < 0.35:
                out = max(0, out - 1)
            elif out < hosts:
                assert rule(out, hosts, percent) == (out + 1 <= stated[percent][hosts - 1]), (percent, hosts, out)
                out += rule(out, hosts, percent)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_rows_of_the_originals_tests_hold(row: dict[str, Any]) -> None:
    part, rule = RULES[row["rule"]]
    out = 0
    for _ in range(row["failing"]):
        out += rule(out, row["hosts"], row["percent"])
    assert out == row["ejected"] == min(row["failing"], caps(part, row["percent"])[row["hosts"] - 1])
