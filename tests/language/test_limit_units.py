"""A percentage in a limit on members is that share of all; of what is no member it does not say of what."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Formula

DESIGN = "coherence: 1\ncomponents: {{web: {{copies: 10}}}}\nlimits: {{n: {{counts: web.{word}, {key}: {value}}}}}\n"


@pytest.mark.parametrize("word", ["ejected", "out", "available", "failing", "extra", "old", "desired", "left"])
@pytest.mark.parametrize("key", ["at_most", "at_least"])
def test_a_percentage_of_members_is_read_as_the_expression(word: str, key: str) -> None:
    short, long = (
        getattr(read_text(DESIGN.format(word=word, key=key, value=value), "d").limits["n"], key)
        for value in ("50 %", "50 % of web.copies")
    )
    assert isinstance(short, Formula)
    assert short.tree == long.tree
    assert str(short) == "50 %"


@pytest.mark.parametrize("word", ["ongoing", "connections", "waiting", "requests", "retries", "crashes"])
def test_a_percentage_of_what_is_no_member_is_asked_about(word: str) -> None:
    with pytest.raises(InputError, match="does not say of what it is a share"):
        read_text(DESIGN.format(word=word, key="at_most", value="50 %"), "d")


def test_a_share_that_is_measured_is_a_number() -> None:
    limit = read_text(DESIGN.format(word="utilization", key="at_most", value="50 %"), "d").limits["n"]
    assert str(limit.at_most) == "50 %"
    assert not isinstance(limit.at_most, Formula)


def test_a_range_of_shares_of_members_is_an_error() -> None:
    with pytest.raises(InputError, match="a range of shares"):
        read_text(DESIGN.format(word="ejected", key="at_most", value="10 % .. 50 %"), "d")


@pytest.mark.parametrize("counted", ["web.ejected + web.drained", "web.ready + web.out"])
def test_a_percentage_of_a_sum_over_members_is_of_all_of_them(counted: str) -> None:
    text = DESIGN.format(word="out", key="at_most", value="50 %").replace("web.out", counted)
    assert str(read_text(text, "d").limits["n"].at_most) == "50 %"
    assert isinstance(read_text(text, "d").limits["n"].at_most, Formula)


def test_a_percentage_by_the_name_of_a_constant_is_that_share() -> None:
    text = DESIGN.format(word="ejected", key="at_most", value="web.most").replace("10}", "10, most: 50 %}")
    limit, long = (
        read_text(text, "d").limits["n"],
        DESIGN.format(word="ejected", key="at_most", value="50 % of web.copies"),
    )
    assert isinstance(limit.at_most, Formula)
    assert limit.at_most.tree == getattr(read_text(long, "d").limits["n"].at_most, "tree", None)


@pytest.mark.parametrize(
    "counted", ["attempts(web)", "count of web by node", "web.out + api.out", "web.requests in flight"]
)
def test_a_percentage_of_what_is_counted_otherwise_is_asked_about(counted: str) -> None:
    text = DESIGN.format(word="out", key="at_most", value="50 %").replace("counts: web.out", f"counts: {counted}")
    with pytest.raises(InputError, match="does not say of what it is a share"):
        read_text(text.replace("10}", "10}, api: {copies: 3}"), "d")


@pytest.mark.parametrize("value", ["0.5", '"max(50 %, 1)"'])
def test_a_part_of_a_member_is_asked_about(value: str) -> None:
    with pytest.raises(InputError, match="does not say of what it is a share"):
        read_text(DESIGN.format(word="ejected", key="at_most", value=value), "d")


@pytest.mark.parametrize("entry", [
    "promises: {p: always web.ejected <= 50 %}", "promises: {p: never 50 % < web.out}",
    "loops: {e: {trigger: web.out < 50 %, timescale: {period: 1 s}, actuation: {signal: web.ejected, by: 1}}}",
    "loops: {e: {timescale: {period: 1 s}, actuation: {signal: web.ejected, by: 1, bounds: [0, 50 %]}}}",
    "loops: {e: {timescale: {period: 1 s}, actuation: {signal: web.copies, by: 10 %}}}",
])  # fmt: skip
def test_members_that_stand_beside_a_percentage_elsewhere_are_asked_about(entry: str) -> None:
    with pytest.raises(InputError, match="does not say of what it is a share"):
        read_text(f"coherence: 1\ncomponents: {{web: {{copies: 10}}}}\n{entry}\n", "d")


@pytest.mark.parametrize("condition", [
    "web.ejected / web.copies <= 50 %", "web.ejected <= 50 % of web.copies", "web.utilization <= 50 %",
])  # fmt: skip
def test_a_share_that_says_of_what_stands_where_it_does(condition: str) -> None:
    read_text(f"coherence: 1\ncomponents: {{web: {{copies: 10}}}}\npromises: {{p: always {condition}}}\n", "d")


def test_a_thing_that_states_the_signal_itself_may_mean_a_share() -> None:
    read_text("coherence: 1\ncomponents: {web: {available: 99 %}}\npromises: {p: always web.available >= 98 %}\n", "d")
