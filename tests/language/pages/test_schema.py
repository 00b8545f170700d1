"""The JSON Schema of the language: every design that is read is valid under it, and mistakes of form are not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from coherence.cli._run import run
from coherence.language.design import Design
from coherence.language.pages.schema import design_schema
from tests.paths import DATA, ROOT, SPECS

SHIPPED = sorted(SPECS.glob("*/design.yaml"))
FENCE = re.compile(r"^```yaml[^\n]*\n(coherence: 1.*?)^```", re.DOTALL | re.MULTILINE)
CASES = sorted(path for path in (ROOT / "tests").rglob("*.md") if "data" not in path.parts)

VALIDATOR = jsonschema.Draft202012Validator(design_schema())


class AsText(yaml.SafeLoader):
    """YAML 1.2 as editors read it: no dates, no yes and no, no sexagesimals."""


AsText.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in pairs if tag.rpartition(":")[2] in ("int", "float", "null", "merge")]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def mistakes(text: str) -> list[str]:
    """What the schema says against a text."""
    loaded: Any = yaml.load(text, Loader=AsText)  # noqa: S506  (a subclass of SafeLoader)
    return [f"{list(e.absolute_path)}: {e.message[:120]}" for e in VALIDATOR.iter_errors(loaded)]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(design_schema())
    assert '"record":' not in json.dumps(design_schema())


def test_every_key_of_a_design_is_in_it() -> None:
    assert set(design_schema()["properties"]) == set(Design.keys)


@pytest.mark.parametrize("path", SHIPPED, ids=[path.parent.name for path in SHIPPED])
def test_shipped_designs_are_valid(path: Path) -> None:
    assert not mistakes(path.read_text())


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_designs_of_the_cases_are_valid(path: Path) -> None:
    for text in FENCE.findall(path.read_text()):
        assert not mistakes(text), text


def test_the_designs_of_the_incidents_are_valid() -> None:
    designs = sorted((DATA / "designs").glob("*.yaml"))
    assert {path.stem: found for path in designs if (found := mistakes(path.read_text()))} == {}
    assert len(designs) == 26


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "coherence: 1\nloop: {}",
        "coherence: 1\nloops: {a: {perod: 5 s}}",
        "coherence: 1\nloops: {a: {layer: kernel}}",
        "coherence: 1\nloops: [a]",
        "coherence: 1\nloops: {a: {trigger: {enter: x}}}",
        "coherence: 1\ncalls: [{from: a}]",
        "coherence: 1\ncalls: [{from: A, to: b}]",
        "coherence: 1\nlimits: {a: {when_full: explode}}",
        "- 1",
    ],
)
def test_mistakes_of_form_are_not_valid(text: str) -> None:
    assert mistakes(text)


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == design_schema()
