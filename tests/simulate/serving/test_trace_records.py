"""Logs of requests in public formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import InputError
from coherence.simulate.serving.trace import replayed_from_file
from coherence.simulate.serving.trace_records import TIME_NAMES, column_among, plain, records

MOONCAKE = """\
{"timestamp": 0, "input_length": 1000, "output_length": 6, "hash_ids": [0, 1]}
{"timestamp": 3000, "input_length": 1537, "output_length": 9, "hash_ids": [0, 1, 2, 3]}
"""
VLLM = """\
{"request_id": "b-1", "input_toks": 20, "output_toks": 7, "arrival_time": 1777.5, "queued_ts": 12.5, "scheduled_ts": 13}
{"request_id": "b-0", "input_toks": 10, "output_toks": 5, "arrival_time": 1777.0, "queued_ts": 12.0, "scheduled_ts": 12}
"""
BURST = """\
Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,0,1087,Conversation log
118,GPT-4,417,276,693,Conversation log
"""


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_mooncake_gives_milliseconds_and_prefixes_of_512_tokens(tmp_path: Path) -> None:
    trace = replayed_from_file(written(tmp_path, "m.jsonl", MOONCAKE))
    assert (trace.times, trace.prompt, trace.output) == ((0.0, 3.0), (1000, 1537), (6, 9))
    assert (trace.prefixes, trace.prefix_block) == (((0, 1), (0, 1, 2, 3)), 512)


def test_a_log_of_vllm_is_read_in_order_of_arrival_at_the_engine(tmp_path: Path) -> None:
    trace = replayed_from_file(written(tmp_path, "v.jsonl", VLLM))
    assert (trace.times, trace.prompt, trace.output) == ((0.0, 0.5), (10, 20), (5, 7))


def test_requests_of_burstgpt_without_an_answer_are_left_out(tmp_path: Path) -> None:
    trace = replayed_from_file(written(tmp_path, "b.csv", BURST))
    assert (trace.times, trace.prompt, trace.output, trace.left_out) == ((0.0, 113.0), (472, 417), (18, 276), 1)


def test_prefixes_of_a_csv_stand_in_one_column(tmp_path: Path) -> None:
    text = "time,prompt,answer,prefix\n0,64,1,3 4\n1,64,1,3 9\n"
    trace = replayed_from_file(written(tmp_path, "p.csv", text))
    assert (trace.prefixes, trace.prefix_block) == (((3, 4), (3, 9)), 32)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.jsonl", "[1]\n", "a.jsonl:1:1: no JSON object"),
        ("a.jsonl", MOONCAKE.replace("1537", "700"), "4 names for 700 tokens do not fit"),
        ("a.jsonl", MOONCAKE.replace("[0, 1]", '["x"]'), "is not a list of whole numbers"),
        ("a.csv", BURST.replace("1087,0", "x,0"), "'x' in column 'Request tokens' is not a number of tokens"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        replayed_from_file(written(tmp_path, name, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no\.jsonl"):
        list(records(tmp_path / "no.jsonl"))


def test_columns_are_known_by_their_words() -> None:
    assert plain("Request tokens") == "requesttokens"
    assert column_among(["id", "TIMESTAMP"], TIME_NAMES) == "TIMESTAMP"
    assert column_among(["id"], TIME_NAMES) == ""
