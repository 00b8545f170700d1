"""Shared configuration of AWS SDKs: the tries of each profile; no value of another key is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.language.design import Design
from tests.importers.test_hostile_manifests import problems
from tests.importers.value_texts import text

NAME = "home/.aws/config"


def read(*lines: str) -> Design:
    return importers.design_from_sources({NAME: "\n".join(lines) + "\n"})


@pytest.mark.parametrize(
    ("lines", "part", "tries"),
    [
        (["[default]", "retry_mode = standard"], "sdk_retry", "3"),
        (["[default]", "retry_mode=legacy", "max_attempts=10"], "sdk_retry_legacy", "10"),
        (["[profile a b]", "retry_mode = adaptive # of ours"], "sdk_retry", "3"),
        (["[default]", "max_attempts = 7"], "", "7"),
    ],
)
def test_a_profile_tries_as_its_mode_says(lines: list[str], part: str, tries: str) -> None:
    (call,) = read(*lines).calls
    assert (text(call.part) if call.part is not None else "", text(call.tries[0])) == (part, tries)


def test_each_profile_is_a_client_and_one_that_says_nothing_is_none() -> None:
    design = read("[default]", "region = x", "[profile a]", "max_attempts = 2", "[profile b]", "max_attempts = 4")
    assert [text(call.caller) for call in design.calls] == ["a", "b"]
    assert design.calls[1].tries[0].place.line == 6


def test_no_secret_is_shown_and_what_stands_below_a_key_is_listed() -> None:
    lines = [
        "[default]",
        "aws_secret_access_key = hunter22",
        "s3 =",
        "  max_concurrent_requests = 20",
        "retry_mode = standard",
    ]
    listed = " ".join(words for _, words in read(*lines).not_modelled)
    assert "hunter22" not in listed
    assert "aws_secret_access_key" in listed
    assert "profiles.default.s3" in listed


def test_a_mode_that_no_sdk_knows_is_refused() -> None:
    with pytest.raises(InputError, match=r"\.aws/config:2:1: .*retry_mode is no mode"):
        read("[default]", "retry_mode = eager")


def test_a_folder_is_searched_for_it(tmp_path: Path) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "config").write_text("[default]\nmax_attempts = 4\n")
    assert check(tmp_path).inputs


@given(st.text(alphabet=st.sampled_from("[]profile= #\nmax_attempts39retry_mode"), max_size=80))
def test_any_text_is_read_or_refused(content: str) -> None:
    assert problems(content, NAME) >= 0
