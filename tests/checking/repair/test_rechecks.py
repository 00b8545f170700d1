"""What a question costs is said by the question, not by where its module stands."""

from __future__ import annotations

from dataclasses import replace

from coherence.checking.repair.rechecks import slow
from coherence.findings.registry import question_modules


def test_questions_that_execute_loops_are_slow() -> None:
    found = {question.code for module in question_modules() if slow(module) for question in module.questions}
    assert found == {"COH220", "COH224", "COH301", "COH302", "COH303", "COH304", "COH305", "COH306", "COH307"}


def test_a_module_is_slow_under_any_name() -> None:
    (module,) = (module for module in question_modules() if module.questions[0].code == "COH301")
    assert slow(replace(module, name="elsewhere"))
    assert not slow(replace(module, questions=tuple(replace(q, slow=False) for q in module.questions)))
