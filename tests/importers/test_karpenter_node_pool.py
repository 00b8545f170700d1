"""NodePool: budgets with their windows, consolidation, and one that is never allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.value_texts import text
from tests.paths import DATA

POOL = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: spot}\nspec: {disruption: {%s}}\n"


def read(disruption: str) -> Design:
    return importers.design_from_sources({"pool.yaml": POOL.replace("%s", disruption)})


def test_without_budgets_a_tenth_of_the_nodes_may_go() -> None:
    (limit,) = read("consolidateAfter: 1m").limits.values()
    assert (text(limit.counts), text(limit.at_most)) == ("spot.disrupted", "10 % of spot.copies round up")


def test_each_budget_is_a_limit() -> None:
    night = '{nodes: "0", schedule: "0 20 * * *", duration: 12h}'
    limits = read(f'budgets: [{{nodes: "20%"}}, {night}]').limits.values()
    assert [(text(limit.at_most), text(limit.during) if limit.during else "") for limit in limits] == [
        ("20 % of spot.copies round up", ""), ("0", "0 20 * * * for 12 h"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("disruption", "trigger"),
    [
        ("consolidationPolicy: WhenEmpty, consolidateAfter: 5m", "spot.empty for 5 min"),
        ("consolidationPolicy: WhenEmptyOrUnderutilized", "spot.underused for 0 s"),
    ],
)
def test_consolidation_is_a_loop(disruption: str, trigger: str) -> None:
    (loop,) = read(disruption).loops.values()
    assert text(loop.trigger) == trigger
    assert text(loop.part) == "karpenter_consolidation"  # whose omissions its findings tell


def test_never_switches_consolidation_off() -> None:
    design = read("consolidateAfter: Never")
    assert not design.loops
    assert any("consolidation is off" in words for _, words in design.not_modelled)


def test_a_pool_that_says_nothing_of_disruption_has_the_defaults() -> None:
    design = importers.design_from_sources({"pool.yaml": POOL.replace("{disruption: {%s}}", "{weight: 1}")})
    assert [text(loop.trigger) for loop in design.loops.values()] == ["spot.underused for 0 s"]
    assert [text(limit.at_most) for limit in design.limits.values()] == ["10 % of spot.copies round up"]


def test_a_static_pool_consolidates_nothing() -> None:
    design = importers.design_from_sources({"pool.yaml": POOL.replace("{disruption: {%s}}", "{replicas: 4}")})
    assert not design.loops
    assert any("a static pool" in words for _, words in design.not_modelled)


@pytest.mark.parametrize(
    ("reasons", "acting", "loops"),
    [
        ("Underutilized, Empty", ["spot_consolidation"], ["spot_consolidation"]),
        ("Underutilized, Empty, Drifted", ["spot_consolidation"], ["spot_consolidation"]),
        ("Underutilized", ["spot_underused"], ["spot_empty", "spot_underused"]),
        ("Empty, Drifted", ["spot_empty"], ["spot_empty", "spot_underused"]),
    ],
)
def test_a_budget_for_some_reasons_holds_back_the_loops_that_act_for_them(
    reasons: str, acting: list[str], loops: list[str]
) -> None:
    design = read(f'budgets: [{{nodes: "1", reasons: [{reasons}]}}]')
    (limit,) = design.limits.values()
    assert [action.text for action in limit.actions] == acting
    assert sorted(design.loops) == loops


def test_a_budget_that_allows_none_for_a_reason_switches_it_off() -> None:
    design = read('budgets: [{nodes: "0", reasons: [Underutilized]}, {nodes: "1", reasons: [Empty, Drifted]}]')
    assert [text(loop.trigger) for loop in design.loops.values()] == ["spot.empty for 0 s"]
    assert any("that is switched off" in words for _, words in design.not_modelled)
    assert not read('budgets: [{nodes: "0", reasons: [Underutilized, Empty]}]').loops


def test_a_budget_of_drift_alone_is_named() -> None:
    design = read('budgets: [{nodes: "1", reasons: [Drifted]}]')
    assert not design.limits
    assert any("nodes that have drifted are not modelled" in words for _, words in design.not_modelled)


def test_a_pool_that_takes_empty_nodes_alone_knows_no_other_reason() -> None:
    budgets = 'consolidationPolicy: WhenEmpty, budgets: [{nodes: "1", reasons: [Empty]}]'
    assert [*read(budgets).loops] == ["spot_consolidation"]


def test_a_reason_that_karpenter_does_not_know_is_refused() -> None:
    with pytest.raises(InputError, match="write Drifted, Empty, Underutilized"):
        read('budgets: [{nodes: "1", reasons: [Idle]}]')


@pytest.mark.parametrize(
    ("duration", "verdicts"), [("24h", [Verdict.CONFLICT]), ("23h59m", [Verdict.PROVED]), ("48h", [Verdict.CONFLICT])]
)
def test_no_node_may_ever_go(duration: str, verdicts: list[Verdict], tmp_path: Path) -> None:
    budget = f'consolidateAfter: 1m, budgets: [{{nodes: "0", schedule: "0 0 * * *", duration: {duration}}}]'
    (tmp_path / "pool.yaml").write_text(POOL.replace("%s", budget))
    assert [f.verdict for f in check(tmp_path).findings if f.code == "COH213"] == verdicts


@pytest.mark.parametrize(
    "budget", ["nodes: -1", "nodes: many", "nodes: 1%%", '{nodes: "1", schedule: "@daily"}', "duration: 1h"]
)
def test_what_karpenter_refuses_is_told(budget: str) -> None:
    written = budget if budget.startswith("{") else f"{{{budget}}}"
    with pytest.raises(InputError, match=r"pool.yaml:4:"):
        read(f"budgets: [{written}]")


def test_of_the_published_pools_one_may_never_consolidate() -> None:
    conflicts = [f for f in check(DATA / "manifests" / "karpenter").findings if f.verdict is Verdict.CONFLICT]
    assert [(f.code, Path(f.places[0].file).name, f.places[0].line) for f in conflicts] == [
        ("COH213", "disruption-budgets.yaml", 36)
    ]


def test_an_empty_list_of_budgets_limits_nothing() -> None:
    assert not read("budgets: []").limits
