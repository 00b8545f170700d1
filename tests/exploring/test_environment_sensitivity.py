"""One kind of values at a time: each moves its own figures, and those alone."""

from __future__ import annotations

import pytest

import coherence as co
from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.base.watchdog import run_limit
from coherence.checking.design_check import Options
from coherence.door.sources import entry_of, read
from coherence.exploring import environment_sensitivity as table
from coherence.exploring.environment_sensitivity import EnvironmentRow, kind_of, sensitivity

TEXT = """coherence: 1
workload: {r: {rate: 40 req/s}}
infrastructure:
  tiers: {east: {count: 8}, west: {count: 8}}
  links: [{ends: [east, west], bandwidth: 40 GB/s}]
  boundaries: {vms: {around: [pool]}}
components:
  prefill: {runs_on: {tier: east, devices: 1}, copies: 4, rate_per_copy: 12 req/s}
  decode: {runs_on: {tier: west, devices: 1}, copies: 4, rate_per_copy: 12 req/s}
  pool: {desired: 0.5 .. 400, load: 20, util: load / desired}
calls: [{from: r, to: prefill}, {from: prefill, to: decode, carries: 500 MB}]
loops:
  hpa:
    inside: none
    target: {signal: pool.util, setpoint: 50 %}
    timescale: {period: 15 s, phase: 0 s}
    actuation: {signal: pool.desired, count: commanded, from: 20, bounds: [1, 400.5]}
environments:
  on_prem:
  cloud:
    workload: {r: {rate: 20 req/s}}
    infrastructure:
      boundaries: {vms: {added_delay: 16 s}}
      links: [{ends: [east, west], bandwidth: 16 GB/s}]
      tiers: {east: {count: 3}}
"""


def rows(text: str, options: Options) -> dict[str, EnvironmentRow]:
    before, after = (entry_of(read(text, environment=name)) for name in ("on_prem", "cloud"))
    with run_limit(60.0):
        return {row.name: row for row in sensitivity(before, after, options)}


@pytest.mark.slow
def test_each_kind_of_values_moves_its_own_figures() -> None:
    found = rows(TEXT, Options(select=("COH301", "COH211", "COH508"), verify_repairs=False))
    first = found["first"]
    assert (first.conflicts, first.carried, first.values) == (0, 1.0, 0)
    assert first.margin is not None
    assert first.margin > 0.3
    assert found["accelerator mix"].conflicts == 1  # four members on three devices
    assert found["placement"].carried == 0.8  # 20 GB/s over 16 GB/s
    assert found["placement"].conflicts == 1
    assert (found["boundary"].margin, found["boundary"].conflicts) == (0.0, 1)
    assert found["all other values"].p99 != first.p99 == found["boundary"].p99
    assert found["second"].values == 4 == sum(row.values for row in found.values()) - 4
    assert (found["second"].conflicts, found["second"].carried) == (2, 1.0)  # at half the rate the link carries all


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (("infrastructure", "tiers", "a", "count"), table.DEVICES),
        (("components", "x", "runs_on", "devices"), table.DEVICES),
        (("components", "x", "rate_per_copy"), table.DEVICES),
        (("components", "x", "runs_on"), table.PLACES),
        (("components", "x", "runs_on", "tier"), table.PLACES),
        (("infrastructure", "links", 0, "bandwidth"), table.PLACES),
        (("calls", "a -> b", "carries"), table.PLACES),
        (("infrastructure", "boundaries", "vms", "gain"), table.BOUNDARIES),
        (("loops", "hpa", "inside"), table.BOUNDARIES),
        (("loops", "hpa", "timescale", "period"), table.OTHERS),
        (("workload", "r", "rate"), table.OTHERS),
    ],
)
def test_a_value_is_of_the_kind_that_its_path_says(path: tuple[str | int, ...], kind: str) -> None:
    assert kind_of(path) == kind


def test_values_that_are_no_design_by_themselves_have_no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    before = "coherence: 1\ncomponents: {a: {copies: 2}}\n"
    after = "coherence: 1\ninfrastructure: {tiers: {t: {count: 2}}}\ncomponents: {a: {copies: 3}}\n"

    def refused(*_: object, **__: object) -> None:
        raise InputError([Problem(Place("d", 1, 1, 1, 1), "a lacks its tier", "name it")])

    monkeypatch.setattr(table, "design_from_table", refused)
    with run_limit(60.0):
        found = sensitivity(entry_of(before), entry_of(after), Options(select=("COH211",)))
    assert [row.reason for row in found if row.name in table.KINDS] == ["is no design by itself: a lacks its tier"] * 2


def test_designs_that_are_alike_have_no_table() -> None:
    text = "coherence: 1\ncomponents: {a: {copies: 2}}\n"
    assert co.diff(text, text).sensitivity == ()


def test_rows_that_the_time_does_not_reach_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = (entry_of(read(TEXT, environment=name)) for name in ("on_prem", "cloud"))

    class Over:
        left = 0.0

    monkeypatch.setattr(table, "current_run", Over)
    assert {row.reason for row in sensitivity(before, after, Options())} == {"not asked: the time limit was reached"}
