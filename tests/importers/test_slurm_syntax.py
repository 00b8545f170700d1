"""The syntax of slurm.conf: pairs, lists, comments, joined lines, places, hostile files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.errors import InputError
from coherence.importers._slurm_syntax import ROOT, is_text, read
from coherence.language.document import Items, Scalar, Table
from tests.strategies import problems_in


def entries(text: str) -> Table:
    root = read(text, "slurm.conf").root
    assert isinstance(root, Table)
    inner = root.get(ROOT)
    assert isinstance(inner, Table)
    return inner


def test_keys_have_no_case_and_the_last_counts() -> None:
    value = entries("KillWait=30 # s\nKILLWAIT = 60\n").get("killwait")
    assert isinstance(value, Scalar)
    assert (value.text, str(value.place)) == ("60", "slurm.conf:2:12")


def test_a_line_of_a_partition_is_an_entry_of_a_list() -> None:
    partitions = entries('PartitionName=a Nodes=n[1-4] MaxTime=1:00\nPartitionName=b AllowGroups="x y"').get(
        "partitionname"
    )
    assert isinstance(partitions, Items)
    texts = [
        {key: node.text for key, node in it.entries.items() if isinstance(node, Scalar)}
        for it in partitions
        if isinstance(it, Table)
    ]
    assert texts == [
        {"partitionname": "a", "nodes": "n[1-4]", "maxtime": "1:00"},
        {"partitionname": "b", "allowgroups": "x y"},
    ]


def test_a_backslash_joins_lines() -> None:
    parameters = entries("PartitionName=a \\\n  MaxTime=5\nKillWait=1").get("partitionname")
    assert isinstance(parameters, Items)
    assert len(parameters.items) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [("KillWait 30", "is no `Key=Value`"), ("=30", "is no"), ("ClusterName={{ name }}", "is a template"),
     ("{% if x %}\nKillWait=1", "is a template"), ('Epilog="open', "is no `Key=Value`")],
)  # fmt: skip
def test_what_is_no_pair_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(text, "slurm.conf")


@pytest.mark.parametrize(
    ("text", "known"),
    [("SlurmctldHost=a", True), ("# x\nPartitionName=a", True), ("http { server {} }", False), ("a = b", False),
     ("AutoDetect=nvml\nName=gpu", True)],
)  # fmt: skip
def test_a_configuration_is_known_by_its_contents(text: str, *, known: bool) -> None:
    assert is_text(text) is known


@given(st.text(max_size=200))
def test_no_text_is_more_than_refused(text: str) -> None:
    assert all(problem.place.file == "slurm.conf" for problem in problems_in(lambda: read(text, "slurm.conf")))
