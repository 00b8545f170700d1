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
