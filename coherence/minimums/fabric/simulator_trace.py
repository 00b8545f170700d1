"""Writes a schedule of a collective runtime as execution traces of a simulator: Chakra's format, which ASTRA-sim runs.

Each member has a file: what it sends and receives, message by message, with what each waits for (the step before it in
its thread block, and the step that last wrote the chunk).  A file is a row of messages of Protocol Buffers, each after
its length.  Times of additions are not in it.

SOURCE: mlcommons/chakra, schema/protobuf/et_def.proto (GlobalMetadata, Node, AttributeProto; numbers of fields).
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from fractions import Fraction

SEND, RECEIVE = 5, 6  # types of a node
VERSION = "0.0.4"
SIGNATURE = "written by `coherence`"
ID, NAME, TYPE, CONTROL, DATA, ATTRIBUTE = 1, 2, 3, 4, 5, 10  # fields of a node
INT32, INT64, BOOL, STRING = 7, 9, 27, 29  # fields of an attribute's value


def traces(algorithm: str, size: Fraction | float) -> list[bytes]:
    """Returns a file for each member of an algorithm in the runtime's XML, by number.

    size: bytes that each member holds (of a reduce-scatter: wants); a chunk is rounded up to whole bytes.
    """
    root = ET.fromstring(algorithm)  # noqa: S314  (written by `runtime_format`)
    chunks = int(root[0].get("o_chunks" if root.get("coll") == "reduce_scatter" else "i_chunks", "1"))
    each = math.ceil(Fraction(size) / chunks)
    return [b"".join(_file(gpu, each)) for gpu in root]


def _file(gpu: ET.Element, size: int) -> Iterator[bytes]:
    signed = _text(1, "tool") + _text(STRING, SIGNATURE)
    yield _delimited(_text(1, VERSION) + _field(2, signed))
    first, count = dict[int, int](), 0
    for number, block in enumerate(gpu):
        first[number], count = count, count + len(block)
    for number, block in enumerate(gpu):
        for step, row in enumerate(block):
            yield _delimited(_node(gpu, block, row, first[number] + step, first, size, after=step > 0))


def _node(
    gpu: ET.Element, block: ET.Element, row: ET.Element, identity: int, first: dict[int, int], size: int, *, after: bool
) -> bytes:
    me, sends = int(gpu.get("id", "")), row.get("type") == "s"
    other, step = int(block.get("send" if sends else "recv", "")), int(row.get("s", ""))
    source, target = (me, other) if sends else (other, me)
    waits, written = int(row.get("depid", "")), int(row.get("deps", ""))
    parts = [_number(ID, identity), _text(NAME, f"{'send' if sends else 'receive'} {source}>{target} {step}")]
    parts += [_number(TYPE, SEND if sends else RECEIVE)]
    parts += [_field(CONTROL, _varint(identity - 1))] if after else []
    parts += [_field(DATA, _varint(first[waits] + written))] if waits >= 0 else []
    values = {"comm_size": (INT64, size), "comm_src": (INT32, source), "comm_dst": (INT32, target)}
    values |= {"comm_tag": (INT32, step), "is_cpu_op": (BOOL, 0)}
    parts += [_field(ATTRIBUTE, _text(1, name) + _number(*value)) for name, value in values.items()]
    return b"".join(parts)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _field(field: int, content: bytes) -> bytes:
    """Returns a text, a message or packed numbers, after their length."""
    return _varint(field << 3 | 2) + _delimited(content)


def _text(field: int, text: str) -> bytes:
    return _field(field, text.encode())


def _delimited(content: bytes) -> bytes:
    return _varint(len(content)) + content
