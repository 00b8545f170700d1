"""gRPC service config: the time limit and the retries of each service."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language import document
from coherence.language.design import Call
from tests.importers.value_texts import text

RETRY = """"retryPolicy": {"maxAttempts": %s, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
  "retryableStatusCodes": [%s]}"""


def config(*methods: str, name: str = '{"service": "shop.Cart", "method": "Add"}') -> str:
    written = ", ".join(f'{{"name": [{name}], {method}}}' for method in methods)
    return f'{{"methodConfig": [{written}]}}\n'


def calls(text: str) -> tuple[Call, ...]:
    return importers.design_from_sources({"client.json": text}).calls


def test_the_time_limit_and_the_tries_of_a_method() -> None:
    (call,) = calls(config('"timeout": "60s", ' + RETRY % (3, '"UNAVAILABLE"')))
    assert (call.name, text(call.deadline), text(call.tries[0])) == ("clients -> shop_cart", "60 s", "3")
    assert [text(cause) for cause in call.retry_when or ()] == ["unavailable"]


def test_more_than_five_tries_are_five() -> None:
    (call,) = calls(config(RETRY % (9, '"UNAVAILABLE"')))
    assert text(call.tries[0]) == "5"


def test_without_retries_there_is_one_try() -> None:
    (call,) = calls(config('"timeout": "1s"'))
    assert text(call.tries[0]) == "1"


def test_methods_of_one_service_are_one_call_and_services_one_each() -> None:
    names = '{"service": "a.B", "method": "C"}, {"service": "a.B", "method": "D"}, {"service": "a.E"}, {}'
    found = [call.name for call in calls(config('"timeout": "1s"', name=names))]
    assert found == ["clients -> a_b", "clients -> a_e", "clients -> every_service"]


@pytest.mark.parametrize(
    ("code", "cause"),
    [('"UNAVAILABLE"', "unavailable"), ("14", "unavailable"), ('"aborted"', "aborted"), ("4", "timeout"),
     ('"RESOURCE_EXHAUSTED"', "rate_limited")],
)  # fmt: skip
def test_a_status_is_written_as_name_or_number(code: str, cause: str) -> None:
    (call,) = calls(config(RETRY % (3, code)))
    assert [text(word) for word in call.retry_when or ()] == [cause]


@pytest.mark.parametrize("retry", [RETRY % (1, '"UNAVAILABLE"'), RETRY % (3, '"SOMETIMES"'), '"timeout": "1 hour"'])
def test_what_grpc_would_refuse_is_told(retry: str) -> None:
    with pytest.raises(InputError, match=r"client.json:"):
        calls(config(retry))


def test_a_deadline_that_ends_the_first_slow_try_is_a_conflict(tmp_path: Path) -> None:
    path = tmp_path / "client.json"
    path.write_text(config('"timeout": "60s", ' + RETRY % (3, '"DEADLINE_EXCEEDED"')))
    assert [f.verdict for f in check(path).findings if f.code == "COH201"] == [Verdict.CONFLICT]


@pytest.mark.parametrize("other", ['{"methodConfig": []}', '{"methodConfig": [{"a": 1}]}', '{"methodConfig": 1}', "[]"])
def test_other_files_are_not_taken_for_service_configs(other: str) -> None:
    assert not importers.recognises(document.read_text(other, "a.json")[0])


def test_a_hedged_call_is_named_and_not_modelled() -> None:
    design = importers.design_from_sources(
        {"client.json": config('"timeout": "1s", "hedgingPolicy": {"maxAttempts": 3}')}
    )
    assert not design.calls
    assert any("several tries at once are not modelled" in words for _, words in design.not_modelled)


def test_codes_that_are_no_list_are_refused() -> None:
    with pytest.raises(InputError, match="retryableStatusCodes is a value, a list expected"):
        calls(config(RETRY.replace("[%s]", "%s") % (3, '"UNAVAILABLE"')))
