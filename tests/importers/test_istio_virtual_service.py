"""VirtualService: routes as calls, with Istio's own reading of attempts, timeouts and host names."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.design_check import analyse
from coherence.findings import repairs
from coherence.findings.design_answers import Answers
from coherence.findings.finding import Verdict
from coherence.language.design import Call, Design

HEAD = """\
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: prod}
spec:
  hosts: [web]
  http:
    - route:
        - destination: {host: web}
"""
TIGHT = """\
      timeout: 2s
      retries:
        attempts: 3
        retryOn: 5xx
"""


def read(text: str) -> Design:
    return importers.design_from_sources({"vs.yaml": text})


def call(rest: str) -> Call:
    return read(HEAD + rest).calls[0]


def answers(text: str) -> Answers:
    sources = {"vs.yaml": text}
    return analyse(read(text), sources, importers.design_from_sources)


def callees(text: str) -> list[str]:
    return [c.callee.text for c in read(text).calls if c.callee is not None]


def causes(found: Call) -> list[str]:
    return [word.text for word in found.retry_when or ()]


@pytest.mark.parametrize(
    ("retries", "tries"),
    [
        ("      retries: {attempts: 3}\n", 4),
        ("      retries: {attempts: 0}\n", 1),
        ("      retries: {}\n", 1),  # attempts absent is 0
        ("      retries: {retryOn: 5xx}\n", 1),
        ("", 3),  # Istio's default policy
    ],
)
def test_tries_are_attempts_and_the_first(retries: str, tries: int) -> None:
    assert [count.text for count in call(retries).tries] == [str(tries)]


def test_values_stand_where_the_manifest_has_them() -> None:
    found = call("      timeout: 2s\n      retries: {attempts: 3, perTryTimeout: 1m30s}\n")
    assert found.deadline is not None
    assert found.per_try is not None
    assert (str(found.deadline.place), found.deadline.place.end_column) == ("vs.yaml:9:16", 18)
    assert (str(found.tries[0].place), found.tries[0].place.end_column) == ("vs.yaml:10:27", 28)
    assert (str(found.per_try.place), getattr(found.per_try, "low", None)) == ("vs.yaml:10:45", 90)
    assert found.callee is not None
    assert str(found.callee.place) == "vs.yaml:8:31"


def test_zero_is_no_limit() -> None:
    found = call("      timeout: 0s\n      retries: {attempts: 2, perTryTimeout: 0s}\n")
    assert found.per_try is None
    assert found.deadline is None or getattr(found.deadline, "text", "") == "unlimited"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("connect-failure,retriable-4xx", ["connect_failure", "conflict"]),
        ("5xx, 503", ["timeout", "unavailable", "connect_failure", "reset", "refused_stream"]),
        ("reset", ["timeout", "reset", "connect_failure", "refused_stream"]),
        ("''", ["connect_failure", "refused_stream", "unavailable", "cancelled"]),  # empty: the default causes
    ],
)
def test_causes(written: str, expected: list[str]) -> None:
    text = written if written == "''" else f"'{written}'"
    assert causes(call(f"      retries: {{attempts: 2, retryOn: {text}}}\n")) == expected


def test_short_and_full_names_are_one_host() -> None:
    full = HEAD.replace("{host: web}", "{host: web.prod.svc.cluster.local}")
    assert set(callees(f"{HEAD}---\n{full}")) == {"web"}


def test_another_namespace_is_another_host() -> None:
    other = HEAD.replace("{host: web}", "{host: web.stage.svc.cluster.local}")
    assert len(set(callees(f"{HEAD}---\n{other}"))) == 2


def test_each_destination_is_a_call() -> None:
    assert callees(HEAD + "        - destination: {host: canary}\n") == ["web", "canary"]


@pytest.mark.parametrize(
    "rest",
    ["      timeout: 2\n", "      timeout: soon\n", "      retries: {attempts: -1}\n", "      retries: [3]\n"],
)
def test_wrong_values_are_refused_at_their_line(rest: str) -> None:
    with pytest.raises(InputError) as caught:
        call(rest)
    assert {problem.place.line for problem in caught.value.problems} == {9}


def test_what_is_not_read_is_listed() -> None:
    found = read(HEAD + "      mirror: {host: shadow}\n      fault: {abort: {httpStatus: 503}}\n")
    listed = [words for _, words in found.not_modelled]
    assert any("spec.http[0].mirror" in words for words in listed)
    assert any("spec.http[0].fault" in words for words in listed)


def test_a_deadline_that_one_try_uses_up_is_a_conflict_with_a_repair() -> None:
    text = HEAD + TIGHT
    found = next(f for f in answers(text).findings if f.code == "COH201")
    assert found.verdict is Verdict.CONFLICT
    assert {9, 11} <= {place.line for place in found.places if place.file == "vs.yaml"}
    repair = next(r for r in found.repairs if "perTryTimeout: " in r.edits[0].new)
    assert repair.verified == "re-checked: proved"
    changed = repairs.apply(repair.edits, {"vs.yaml": text})
    assert changed is not None
    lines = changed["vs.yaml"].splitlines()
    assert lines[11].startswith("        perTryTimeout: ")  # the line below `attempts`, as deep as it
    again = [f.verdict for f in answers(changed["vs.yaml"]).findings if f.code == "COH201"]
    assert again == [Verdict.PROVED]


def test_a_flow_mapping_is_repaired_in_its_line() -> None:
    text = HEAD + "      timeout: 2s\n      retries: {attempts: 3, retryOn: 5xx}\n"
    found = next(f for f in answers(text).findings if f.code == "COH201")
    changed = repairs.apply(found.repairs[0].edits, {"vs.yaml": text})
    assert changed is not None
    assert "{attempts: 3, perTryTimeout: " in changed["vs.yaml"]


def test_tries_that_fit_are_proved() -> None:
    found = [f for f in answers(HEAD + TIGHT + "        perTryTimeout: 300ms\n").findings if f.code == "COH201"]
    assert [f.verdict for f in found] == [Verdict.PROVED]
    per_try = call(TIGHT + "        perTryTimeout: 300ms\n").per_try
    assert getattr(per_try, "low", None) == Fraction(3, 10)
