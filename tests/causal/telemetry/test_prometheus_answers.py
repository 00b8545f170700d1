"""Answers that are none of a Prometheus: each is refused with what is wrong with it, and nothing else happens."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.causal.telemetry.bounded_http import HttpAnswer
from coherence.causal.telemetry.prometheus_answers import AnswerShapeError, QueryRefusedError, matrix, result_of


def answer(whole: object) -> HttpAnswer:
    return HttpAnswer(200, "OK", json.dumps(whole).encode())


def test_labels_and_points_of_each_series() -> None:
    data = {
        "resultType": "matrix",
        "result": [{"metric": {"pod": "b", "app": "a"}, "values": [[1, "2"], [2.5, "NaN"]]}],
    }
    (series,) = matrix(result_of(answer({"status": "success", "data": data}))[0], 1, 2.5)
    assert series[0] == (("app", "a"), ("pod", "b"))
    assert series[1][0].tolist() == [1, 2]
    assert series[1][1][0] == 2.5
    assert math.isnan(series[1][1][1])


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[" * 100_000, b"{" * 100_000, b"[1" + b"0" * 5_000 + b"]", b"\xff\xfe", b"1", b"{}", b"null"],
)
def test_what_is_no_answer(body: bytes) -> None:
    with pytest.raises(AnswerShapeError, match="status 200 OK: is this a Prometheus"):
        result_of(HttpAnswer(200, "OK", body))


SERIES = {"metric": {"a": "b"}, "values": [[1, "2"]]}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "a matrix"),
        ([], "a matrix"),
        ({"resultType": "scalar", "result": [1, "2"]}, "a matrix"),
        ({"resultType": "matrix", "result": "x"}, "a matrix"),
        ({"resultType": "matrix", "result": {"a": SERIES}}, "a matrix"),
        ({"resultType": "matrix", "result": [SERIES, SERIES]}, "the same labels"),
        ({"resultType": "matrix", "result": [1]}, "has a `metric`"),
        ({"resultType": "matrix", "result": [{"values": []}]}, "has a `metric`"),
        ({"resultType": "matrix", "result": [SERIES | {"metric": {"a": 1}}]}, "has a `metric`"),
        ({"resultType": "matrix", "result": [SERIES | {"metric": ["a"]}]}, "has a `metric`"),
        *(
            ({"resultType": "matrix", "result": [SERIES | {"values": values}]}, "pairs of a time and a text")
            for values in (None, 1, "ab", {"a": 1}, [1], [[1]], [[1, 2]], [[1, "x"]], [["1", "2"]], [[1, "2", 3]],
                           [[1, None]], [[10**400, "1"]])
        ),
        *(
            ({"resultType": "matrix", "result": [SERIES | {"values": [[at, "2"]]}]}, "in the range that was asked for")
            for at in (math.nan, math.inf, 1e18, -5)
        ),
    ],
)  # fmt: skip
def test_each_wrong_shape_is_said(data: Any, words: str) -> None:
    with pytest.raises(AnswerShapeError, match=words):
        list(matrix(result_of(answer({"status": "success", "data": data}))[0], 0, 10))


def test_the_words_of_a_server_are_shortened() -> None:
    with pytest.raises(QueryRefusedError) as caught:
        result_of(answer({"status": "error", "errorType": "bad_data", "error": "x" * 100_000}))
    assert len(str(caught.value)) < 350


@pytest.mark.parametrize("words", ['p"q\\w', "pässwört", "first", "first, second"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_secret_that_a_server_says_back_is_in_no_message(words: str, ascii_only: bool) -> None:
    whole = {"status": "error", "errorType": "x", "error": f"login {words}!"}
    body = json.dumps(whole, ensure_ascii=ascii_only).encode()
    with pytest.raises(QueryRefusedError, match=r"login \*\*\*(, \*\*\*)?!"):
        result_of(HttpAnswer(200, "OK", body), [words, "first", "second"])
    with pytest.raises(AnswerShapeError, match=r"login \*\*\*(, \*\*\*)?!"):
        result_of(HttpAnswer(200, "OK", body[40:]), [words, "first", "second"])


@pytest.mark.parametrize(
    ("given", "remarks"),
    [
        ({}, ()),
        ({"warnings": [], "infos": None}, ()),
        ({"warnings": ["half\x1b[2J of HUSH"], "infos": ["x"]},
         ("the server warns: half\\x1b[2J of ***", "the server remarks: x")),
        ({"warnings": {"a": 1}}, ("the server warns: {'a': 1}",)),
        ({"infos": 3 * ["y"] + 100 * ["x"]}, (3 * ("the server remarks: y",) + 17 * ("the server remarks: x",))),
    ],
)  # fmt: skip
def test_what_a_server_remarks_is_told(given: dict[str, Any], remarks: tuple[str, ...]) -> None:
    assert result_of(answer({"status": "success", "data": 1} | given), ["HUSH"]) == (1, remarks)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["metric", "values", "a"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_whatever_stands_there_is_read_or_refused(result: Any, series: Any) -> None:
    for data in (result, {"resultType": "matrix", "result": result}, {"resultType": "matrix", "result": [series]}):
        try:
            list(matrix(data, 0, 10))
        except (AnswerShapeError, QueryRefusedError):
            continue
