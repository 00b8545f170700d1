"""What holds without a key of a limit, as its words say."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts import limits
from coherence.verify.facts.design_facts import known


def cap(keys: str) -> str:
    text = f"coherence: 1\ncomponents: {{web: {{copies: 7}}}}\nlimits: {{b: {{counts: web.unavailable, {keys}}}}}"
    design = read_text(text, "d")
    return str(limits.cap(known(Subject(design, {"d": text})), design.limits["b"]))


def test_a_share_is_exact_without_a_rounding() -> None:
    assert cap("at_most: 30 %") == cap("at_most: 30 %, rounding: exact")
    assert cap("at_most: 30 %") != cap("at_most: 30 %, rounding: up")


def test_a_word_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match="wait, reject, evict and redo, fail and lose"):
        cap("at_most: 3, when_full: explode")
