"""The fleet that a design states, and the facts it is asked for."""

from __future__ import annotations

import pytest

from coherence.causal.ledger.capacity import capacity
from coherence.causal.ledger.capacity_design import fleet_of, signal_of
from coherence.checking.design_check import analyse
from coherence.findings.finding import Verdict
from coherence.language.reading import read_text

DESIGN = """
coherence: 1
summary: Two kinds of accelerators serve chat and train.
workload:
  chat:  {rate: 100 req/s, burst: {rate: 300 req/s, lasts: 1 min, every: 10 min}}
  batch: {rate: 40 req/s}
infrastructure:
  tiers:
    h100: {count: 10, rate_chat: 20 req/s, rate_batch: 8 req/s}
    a100: {count: 6}
components:
  gateway: {returns: answer}
  pool: {runs_on: a100, rate_per_replica: 20 req/s, needs: 2 gpu}
calls:
  - {from: chat, to: gateway}
  - {from: gateway, to: pool}
telemetry:
  h100.barrier: gpu_barrier_devices{tier="h100"}
"""


def asked(text: str) -> dict[str, str]:
    found = fleet_of(read_text(text))
    assert found.fleet is None
    return {one.key: one.words for one in found.missing}


def test_a_design_states_its_fleet() -> None:
    found = fleet_of(read_text(DESIGN))
    assert found.missing == ()
    given = found.fleet
    assert given is not None
    assert given.devices == ("h100", "a100")
    assert given.count.tolist() == [10, 6]
    assert given.rate.tolist() == [[20, 8], [10, 0]], "a replica of two devices: 10 req/s each"
    assert given.mix.tolist() == pytest.approx([0.75, 0.25]), "the mean of chat with its bursts is 120 req/s"
    assert found.assumed == ("a100 cannot run batch: it states rates, and none for batch (rate_batch)",)
    assert capacity(given).value > 0


def test_the_design_is_one_that_every_engine_reads() -> None:
    design = read_text(DESIGN)
    findings = analyse(
        design, {"<design>": DESIGN}, lambda files: read_text(files["<design>"]), verify_repairs=False
    ).findings
    assert all(one.verdict is not Verdict.CONFLICT for one in findings)


def test_the_column_of_a_signal() -> None:
    design = read_text(DESIGN)
    assert signal_of(design, "h100.barrier") == 'gpu_barrier_devices{tier="h100"}'
    assert signal_of(design, "h100.gang") == "h100.gang"


def test_a_component_may_say_what_it_serves() -> None:
    text = DESIGN.replace("needs: 2 gpu}", "serves: batch}")
    given = fleet_of(read_text(text)).fleet
    assert given is not None
    assert given.rate.tolist() == [[20, 8], [0, 20]]


def test_missing_facts_are_asked_for_by_name() -> None:
    assert set(asked("coherence: 1")) == {"infrastructure.tiers", "workload"}
    bare = "coherence: 1\nworkload: {chat: {}}\ninfrastructure: {tiers: {h100: {}}}"
    assert set(asked(bare)) == {
        "infrastructure.tiers.h100.count", "workload.chat.rate"
    }  # fmt: skip
    counted = "coherence: 1\nworkload: {chat: {rate: 1 req/s}}\ninfrastructure: {tiers: {h100: {count: 2}}}"
    assert asked(counted) == {
        "infrastructure.tiers.<tier>.rate_chat": "work of chat that one device of h100 finishes alone, per second"
    }


def test_ranges_and_units_are_asked_to_be_numbers() -> None:
    wide = asked(DESIGN.replace("rate_chat: 20 req/s", "rate_chat: 20 req/s .. 30 req/s"))
    assert "is not one number" in wide["infrastructure.tiers.h100.rate_chat"]
    wrong = asked(DESIGN.replace("rate_chat: 20 req/s", "rate_chat: 20 ms"))
    assert "'20 ms'" in wrong["infrastructure.tiers.h100.rate_chat"]
    replicas = asked(DESIGN.replace("rate_per_replica: 20 req/s", "rate_per_replica: 20 ms"))
    assert "components.pool.rate_per_replica" in replicas


def test_rates_of_different_units_need_shares() -> None:
    mixed = DESIGN.replace("batch: {rate: 40 req/s}", "batch: {rate: 40 step/s}")
    assert "different units (chat in req/s and batch in step/s)" in asked(mixed)["workload.<name>.share"]
    shared = mixed.replace("{rate: 40 step/s}", "{rate: 40 step/s, share: 40 %}").replace(
        "every: 10 min}}", "every: 10 min}, share: 60 %}"
    )
    given = fleet_of(read_text(shared)).fleet
    assert given is not None
    assert given.mix.tolist() == pytest.approx([0.6, 0.4])
