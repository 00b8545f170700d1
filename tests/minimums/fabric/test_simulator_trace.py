"""Traces for a simulator, read by the library of Protocol Buffers with the fields of Chakra's schema, and run."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal.decoder import _DecodeVarint32  # type: ignore[attr-defined,unused-ignore]

from coherence.cli._run import run
from coherence.minimums.fabric.broadcasts import from_root
from coherence.minimums.fabric.reductions import schedule
from coherence.minimums.fabric.runtime_format import gathering, reducing, scattering, telling
from coherence.minimums.fabric.simulator_trace import traces
from coherence.minimums.fabric.trees import trees
from coherence.minimums.fabric.wiring import Fabric, leaf_spine, ring, turned

FABRICS = (ring(4), leaf_spine(2, 2, 2, 50, 30))
FIELDS = {  # message -> (name, number, type, repeated): string 9, message 11, uint64 4, int32 5, int64 3, bool 8
    "Attribute": (("name", 1, 9, 0), ("int32_val", 7, 5, 0), ("int64_val", 9, 3, 0), ("bool_val", 27, 8, 0),
                  ("string_val", 29, 9, 0)),
    "Metadata": (("version", 1, 9, 0), ("attr", 2, 11, 1)),
    "Node": (("id", 1, 4, 0), ("name", 2, 9, 0), ("type", 3, 5, 0), ("ctrl_deps", 4, 4, 1), ("data_deps", 5, 4, 1),
             ("attr", 10, 11, 1)),
}  # fmt: skip


def schema() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="trace.proto", package="trace", syntax="proto3")
    for message, fields in FIELDS.items():
        made = file.message_type.add(name=message)
        for name, number, kind, repeated in fields:
            field = made.field.add(name=name, number=number, type=kind, label=3 if repeated else 1)
            if kind == 11:
                field.type_name = ".trace.Attribute"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # type: ignore[no-untyped-call,unused-ignore]
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"trace.{name}")) for name in FIELDS}


def read(content: bytes) -> tuple[Any, list[Any]]:
    """The metadata and the nodes of a file, each after its length."""
    classes, place, parts = schema(), 0, []
    while place < len(content):
        length, place = _DecodeVarint32(content, place)
        parts.append(content[place : place + length])
        place += length
    return classes["Metadata"].FromString(parts[0]), [classes["Node"].FromString(part) for part in parts[1:]]


def values(node: Any) -> dict[str, int]:
    return {one.name: one.int64_val or one.int32_val for one in node.attr}


@pytest.mark.parametrize("made", FABRICS, ids=str)
@pytest.mark.parametrize("collective", ["gather", "reduce", "scatter", "tell"])
def test_every_message_is_sent_and_received_and_nothing_waits_for_ever(made: Fabric, collective: str) -> None:
    text = {
        "gather": lambda: gathering(made, trees(made)), "reduce": lambda: reducing(made, schedule(made)),
        "scatter": lambda: scattering(made, trees(turned(made))), "tell": lambda: telling(*from_root(made)),
    }[collective]()  # fmt: skip
    files = [read(content) for content in traces(text, Fraction(12_000))]
    assert len(files) == len(made.names)
    assert {metadata.version for metadata, _ in files} == {"0.0.4"}
    nodes = {(rank, node.id): node for rank, (_, every) in enumerate(files) for node in every}
    ends: dict[str, list[tuple[int, ...]]] = {"send": [], "receive": []}
    for node in nodes.values():
        at = values(node)
        ends[node.name.split()[0]].append((at["comm_src"], at["comm_dst"], at["comm_tag"], at["comm_size"]))
    assert sorted(ends["send"]) == sorted(ends["receive"])
    assert len(set(ends["send"])) == len(ends["send"]) > 0
    done, sent, moved = set[tuple[int, int]](), set[tuple[int, ...]](), True
    while moved:
        moved = False
        for (rank, identity), node in nodes.items():
            waits = {(rank, other) for other in (*node.ctrl_deps, *node.data_deps)}
            key = (values(node)["comm_src"], values(node)["comm_dst"], values(node)["comm_tag"])
            if (rank, identity) in done or waits - done or (node.type == 6 and key not in sent):
                continue
            done.add((rank, identity))
            sent.add(key)
            moved = True
    assert done == set(nodes)


def test_the_command_writes_a_file_for_each_member(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["bound", "all_reduce_fabric", "fabric=0>1,1>2,2>0", "size=9 kB", "--schedule", str(tmp_path / "ring.et")]
    assert run(words) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ring.0.et", "ring.1.et", "ring.2.et"]
    _, nodes = read((tmp_path / "ring.0.et").read_bytes())
    assert {values(node)["comm_size"] for node in nodes} <= {1500, 3000, 9000}
    assert run(words) == 0, "our own traces may be written again"
    (tmp_path / "ring.1.et").write_bytes(b"something else")
    assert run(words) == 2
    assert "ring.1.et" in capsys.readouterr().err
