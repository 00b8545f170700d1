"""Whole files up to a size: what is too large, packed too well or without an end is refused by name."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from coherence.base.errors import InputError
from coherence.simulate.telemetry import bounded_files
from coherence.simulate.telemetry.bounded_files import whole_file, whole_text

DEVICE = Path("/dev/zero")
WHOLE = gzip.compress(b"cut off in the middle", mtime=0)  # the same name of each test in every process
PACKED_WRONGLY = [b"no gzip at all", WHOLE[:-12], WHOLE[:12] + b"\xff\xff" + WHOLE[14:]]


def test_a_file_of_the_largest_size_is_read_and_one_byte_more_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b"x" * 10)
    assert whole_file(file, most=10) == b"x" * 10
    with pytest.raises(InputError, match=r"a\.json:1:1: more than 9 bytes, and it is read as a whole"):
        whole_file(file, most=9)


def test_what_is_packed_counts_as_it_is_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "a.json.gz"
    file.write_bytes(gzip.compress(b"0" * (3 << 20)))
    assert file.stat().st_size < 1 << 14
    with pytest.raises(InputError, match="more than 2 MiB"):
        whole_file(file, most=2 << 20)
    assert len(whole_file(file)) == 3 << 20


@pytest.mark.parametrize("content", PACKED_WRONGLY)
def test_what_is_not_packed_as_its_name_says_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.gz"
    file.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read"):
        whole_file(file)


def test_wrong_bytes_are_told_with_their_line_or_replaced(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfone\ntwo \xff\n")
    with pytest.raises(InputError, match=r"a\.txt:2:1: not UTF-8"):
        whole_text(file)
    assert whole_text(file, lenient=True) == "one\ntwo \ufffd\n"


@pytest.mark.skipif(not DEVICE.exists(), reason="this system has no /dev/zero")
@pytest.mark.parametrize("reader", ["otlp json", "otlp protobuf", "network", "requests", "manifest", "pods", "events"])
def test_no_reader_of_whole_files_reads_a_device_to_its_end(
    tmp_path: Path, reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bench.references.network_files import linear_network
    from coherence.causal.telemetry import otlp_json, otlp_protobuf
    from coherence.causal.telemetry.parts import TelemetryOptions
    from coherence.simulate.logs import events, manifests, tables
    from coherence.simulate.serving.trace_records import records

    monkeypatch.setattr(bounded_files.whole_file, "__kwdefaults__", {"most": 1000})
    monkeypatch.setattr(bounded_files.whole_text, "__kwdefaults__", {"lenient": False, "most": 1000})
    (path := tmp_path / "log.jsonl").symlink_to(DEVICE)
    readers: dict[str, Callable[[], object]] = {
        "otlp json": lambda: otlp_json.read_json(path, TelemetryOptions()),
        "otlp protobuf": lambda: otlp_protobuf.read_protobuf(path, TelemetryOptions()),
        "network": lambda: linear_network(path), "requests": lambda: list(records(path)),
        "manifest": lambda: manifests.read_manifest(path), "pods": lambda: tables.read_table(path),
        "events": lambda: events.read_starts(path),
    }  # fmt: skip
    with pytest.raises(InputError, match=r"log\.jsonl:1:1: .*(more than|NUL|not allowed|null|bytes)"):
        readers[reader]()
