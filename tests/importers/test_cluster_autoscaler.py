"""Flags of the Cluster Autoscaler: a pair of loops for each node group, with its bounds, delays and threshold."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.language.design import Design
from tests.importers.value_texts import text


def read(
    *flags: str, image: str = "registry.k8s.io/autoscaling/cluster-autoscaler:v1.32.1", key: str = "command"
) -> Design:
    words = ["./cluster-autoscaler", *flags] if key == "command" else list(flags)
    container = f"{{name: ca, image: '{image}', {key}: {words!r}}}"
    spec = f"spec: {{template: {{spec: {{containers: [{container}]}}}}}}"
    return importers.design_from_sources(
        {"ca.yaml": f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: ca}}\n{spec}\n"}
    )


def test_each_group_is_scaled_up_and_down_within_its_bounds() -> None:
    loops = read("--nodes=1:10:a", "--nodes=0:4:b").loops
    assert set(loops) == {"a_scale_up", "a_scale_down", "b_scale_up", "b_scale_down"}
    actuation = loops["b_scale_down"].actuation
    assert actuation is not None
    assert (text(actuation.signal), [text(end) for end in actuation.bounds]) == ("b.copies", ["0", "4"])


def test_what_is_not_written_is_the_default_of_the_program() -> None:
    loops = read("--nodes=1:10:a").loops
    assert text(loops["a_scale_down"].trigger) == "a.requested < 50 % for 10 min and (not a_scale_up) for 590 s"
    assert text(loops["a_scale_up"].trigger) == "a.pods_pending > 0"


def test_times_and_thresholds_are_those_of_the_flags() -> None:
    flags = ("--scan-interval=30s", "--scale-down-unneeded-time=5m", "--scale-down-utilization-threshold=0.65")
    delays = ("--scale-down-delay-after-add=1m", "--scale-down-delay-after-delete=2m")
    loop = read("--nodes=1:10:a", *flags, *delays).loops["a_scale_down"]
    assert text(loop.trigger) == "a.requested < 65 % for 5 min and (not a_scale_up) for 30 s"
    assert loop.timescale is not None
    assert (text(loop.timescale.period), text(loop.timescale.cooldown)) == ("30 s", "2 min")


def test_no_removal_where_it_is_switched_off() -> None:
    assert set(read("--nodes=1:10:a", "--scale-down-enabled=false").loops) == {"a_scale_up"}


@pytest.mark.parametrize("key", ["command", "args"])
def test_flags_stand_in_the_command_or_the_arguments_with_or_without_an_equals_sign(key: str) -> None:
    assert set(read("--nodes", "1:10:a", "--scale-down-enabled=true", key=key).loops) == {"a_scale_up", "a_scale_down"}


def test_another_program_has_none() -> None:
    assert not read("--nodes=1:10:a", image="registry/other:1", key="args").loops


def test_flags_that_are_not_modelled_are_listed_without_their_values() -> None:
    listed = [words for _, words in read("--nodes=1:10:a", "--expander=least-waste", "--token=hunter2").not_modelled]
    assert [name for name in ("expander", "token") if any(f"--{name} of" in words for words in listed)] == [
        "expander",
        "token",
    ]
    assert not any("hunter2" in words for words in listed)


@pytest.mark.parametrize(
    "flag", ["--nodes=many", "--nodes=1:2", "--scan-interval=soon", "--scale-down-utilization-threshold=half"]
)
def test_a_flag_that_is_none_is_refused_with_its_line(flag: str) -> None:
    with pytest.raises(InputError, match=r"ca.yaml:4:.*--"):
        read("--nodes=1:10:a", flag)
