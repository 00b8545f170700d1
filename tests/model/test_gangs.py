"""Jobs that call each other are one gang; a job that calls no other is alone, and what is no job is in none."""

from __future__ import annotations

from coherence.language.reading import read_text
from coherence.model.gangs import exchanging, gangs

TEXT = """coherence: 1
infrastructure:
  tiers: {east: {count: 80}, west: {count: 80}}
  links: [{ends: [east, west], bandwidth: 1 GB/s}]
components:
  c: {runs_on: west, copies: 3, takes: {step: 2 s .. 3 s}}
  a: {runs_on: east, copies: 4, takes: {step: 1 s}}
  b: {runs_on: east, copies: 2, takes: {step: 1 s}}
  alone: {copies: 4, takes: {step: 1 s}}
  store: {runs_on: west, takes: {serve: 1 s}}
calls: [{from: a, to: b, carries: 1 MB}, {from: c, to: b, carries: 1 MB}, {from: alone, to: store}]
"""


def test_jobs_that_call_each_other_are_one_gang() -> None:
    design = read_text(TEXT, "d")
    assert [[job.name for job in gang.members] for gang in gangs(design)] == [["c", "a", "b"], ["alone"]]
    (gang,) = exchanging(design)
    assert [one.name for one in gang.exchanges] == ["c -> b"]  # a and b are on one tier: no link is between them
    assert (gang.name, gang.steps) == ("c", "c steps")
    assert gang.least_step == 2


def test_without_calls_each_job_is_alone() -> None:
    design = read_text(TEXT.split("calls:", maxsplit=1)[0], "d")
    assert [gang.name for gang in gangs(design)] == ["c", "a", "b", "alone"]
    assert exchanging(design) == ()
