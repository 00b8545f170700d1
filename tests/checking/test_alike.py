"""Pieces that differ in names and places alone: which they are, and that sharing their answers changes no answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence import importers
from coherence.base.places import Place
from coherence.checking.alike import OwnPlace, Spelling, alike
from coherence.checking.design_check import Analysis, Options, analysis
from coherence.checking.slicing import Piece, pieces
from coherence.findings.question_input import Subject
from coherence.importers import identities
from coherence.language import words
from coherence.language.words import understood
from tests.draws import few
from tests.importers.test_every_field import FOREIGN, OWN

HPA = """---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: {name}}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {name}}}
  minReplicas: {least}
  maxReplicas: 10
"""
STACK = (
    """apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, labels: {{app: {name}}}}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers:
      - name: main
        livenessProbe: {{httpGet: {{path: /l, port: 80}}, periodSeconds: 10}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {budget}}}
spec: {{minAvailable: 2, selector: {{matchLabels: {{app: {name}}}}}}}
"""
    + HPA
)


def stack(name: str, *, budget: str = "", least: int = 2) -> str:
    return STACK.format(name=name, budget=budget or name, least=least)


def joined(texts: Iterable[str]) -> dict[str, str]:
    """Returns one file, whose first and last documents are no objects: each object has a line before it."""
    return {"all.yaml": "---\n".join(["kind: none\n", *texts, "kind: none\n"])}


def one_file(names: Sequence[str]) -> dict[str, str]:
    return joined(map(stack, names))


def parts(sources: Mapping[str, str]) -> tuple[Sequence[Piece], Subject]:
    design = importers.design_from_sources(sources)
    return pieces(design, sources), Subject(design, sources)


def groups(sources: Mapping[str, str]) -> list[list[Spelling]]:
    return alike(*parts(sources))


def stems(sources: Mapping[str, str]) -> list[list[str]]:
    return [[" ".join(spelling.stems) for spelling in group] for group in groups(sources)]


def answered(sources: Mapping[str, str], *, share: bool, repairs: bool = True) -> Analysis:
    options = Options(time_limit=300.0, verify_repairs=repairs, share=share)
    return analysis(importers.design_from_sources(sources), sources, importers.design_from_sources, options=options)


def assert_shared_as_asked(sources: Mapping[str, str], *, repairs: bool = True) -> None:
    shared, asked = (answered(sources, share=share, repairs=repairs).answers for share in (True, False))
    assert shared.findings == asked.findings
    assert shared == asked


def test_workloads_that_differ_in_their_names_are_alike() -> None:
    assert stems(one_file(["web", "api", "shop"])) == [["web", "api", "shop"]]
    assert stems(one_file(["web-0", "pay-me-1", "shop-12"])) == [["web_0", "pay_me_1", "shop_12"]]


def test_two_are_too_few_and_what_differs_in_a_number_is_not_alike() -> None:
    assert stems(one_file(["web", "api"])) == []
    texts = one_file(["web", "api", "shop"])
    texts["all.yaml"] += "---\n" + stack("box", least=1)
    assert stems(texts) == [["web", "api", "shop"]]


def test_what_may_look_at_names_sees_the_same_in_pieces_that_are_alike() -> None:
    """Words of the language in names, the order of the names, and whether they have several words."""
    assert stems(one_file(["web", "api", "worker", "shop"])) == [["web", "api", "shop"]]  # work
    assert stems(one_file(["web", "api", "shop-1", "box"])) == [["web", "api", "box"]]
    budgets = {"api": "box", "shop": "z", "x1": "y2", "c": "d", "e": "a"}
    texts = joined(stack(name, budget=budget) for name, budget in budgets.items())
    assert stems(texts) == [["api box", "shop z", "x1 y2", "c d"]]


def test_names_that_share_their_first_words_are_written_with_these() -> None:
    named = {name: stack(f"{name}-deployment", budget=f"{name}-pdb") for name in ("web", "api", "shop")}
    labels = (text.replace(f"app: {name}-deployment", f"app: {name}") for name, text in named.items())
    assert stems(joined(labels)) == [["web", "api", "shop"]]


def test_a_name_that_begins_with_another_of_its_piece_is_not_shared() -> None:
    pairs = [("web1", "web10"), ("api", "apis"), ("s", "st")]
    assert stems(joined(stack(name, budget=budget) for name, budget in pairs)) == []


def test_a_word_that_is_a_name_elsewhere_in_the_design_is_not_shared() -> None:
    overlay = "coherence: 1\noverlays: manifests\ninfrastructure: {tiers: {web: {count: 3}}}\n"
    assert stems({**one_file(["web", "api", "shop", "box"]), "o.yaml": overlay}) == [["api", "shop", "box"]]


def test_places_and_texts_of_one_are_written_as_those_of_another() -> None:
    sources = one_file(["web-a", "pay-me-1", "box-2"])
    ((web, pay, _),) = groups(sources)
    for line in web.lines:
        for match in re.finditer(r"web-a|\b[0-9]+\b", line.text):
            own = web.own_place(Place(line.file, line.number, match.start() + 1, line.number, match.end() + 1, "web_a"))
            assert isinstance(own, OwnPlace)
            other = pay.place(own)
            at = sources["all.yaml"].split("\n")[other.line - 1][other.column - 1 : other.end_column - 1]
            assert (at, other.label) == (match[0].replace("web-a", "pay-me-1"), "pay_me_1")
    text = "web_a_budget of Deployment/web-a in all.yaml: not web_ab"
    assert pay.with_names(web.without_names(text)) == "pay_me_1_budget of Deployment/pay-me-1 in all.yaml: not web_ab"
    line = next(line for line in web.lines if "web-a" in line.text)
    inside = Place("all.yaml", line.number, line.text.index("eb-a") + 1, line.number, len(line.text) + 1)
    assert web.own_place(inside) is inside
    assert web.own_place(elsewhere := Place("b.yaml", 5, 20, 5, 21)) is elsewhere


@pytest.mark.slow
def test_answers_are_the_same_shared_and_asked_alone() -> None:
    """Texts, places, figures, witnesses, certificates, repairs, and what is not read."""
    names = ["web-0", "pay-me-1", "shop-12", "worker-2"]
    assert_shared_as_asked(one_file(names))
    assert_shared_as_asked({f"{name}/all.yaml": stack(name) for name in names}, repairs=False)
    kinds = [part for number in range(3) for part in (stack(name).split("---\n")[number] for name in names)]
    assert_shared_as_asked({"all.yaml": "---\n".join(kinds)}, repairs=False)


@pytest.mark.slow
def test_each_workload_in_conflict_has_its_repair() -> None:
    sources = one_file([f"web-{number}" for number in range(30)])
    answers = answered(sources, share=True).answers
    conflicts = [f for f in answers.findings if f.code == "COH209"]
    assert len(conflicts) == 30
    for finding in conflicts:
        assert {edit.old for repair in finding.repairs for edit in repair.edits} == {"2"}
        assert all(repair.proved for repair in finding.repairs)


def test_where_the_two_that_are_asked_answer_otherwise_all_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message of a conflict has the word of which the name of the first one is made: it names no copies there."""
    sources = one_file(["copies", "api", "shop", "web"])
    assert stems(sources) == [["api", "shop", "web"]]
    monkeypatch.setattr("coherence.checking.alike.understood", tuple)
    assert "copies" in understood()
    assert stems(sources) == [["copies", "api", "shop", "web"]]
    assert_shared_as_asked(sources, repairs=False)
    assert "2 copies of copies" in str(answered(sources, share=True, repairs=False).answers.findings)


NAMES = st.text("abyz019-", min_size=1, max_size=7).map(lambda end: f"q{end}9")


@pytest.mark.slow
@settings(max_examples=few(15), deadline=None)
@given(st.lists(NAMES, min_size=3, max_size=7, unique=True), st.sampled_from(["one file", "files", "by kind"]))
def test_sharing_changes_no_answer_whatever_the_names(names: list[str], layout: str) -> None:
    if layout == "one file":
        sources = one_file(names)
    elif layout == "files":
        sources = {f"{name}.yaml": stack(name) for name in names}
    else:
        objects = [text.split("---\n") for text in map(stack, names)]
        sources = {"all.yaml": "---\n".join(text for kind in zip(*objects, strict=True) for text in kind)}
    assert_shared_as_asked(sources, repairs=False)


def copies(name: str) -> dict[str, str]:
    """Returns four copies of a file, each with names of its own for what is read of it."""
    text = {**OWN, **FOREIGN}[name].read_text(encoding="utf-8")
    documents = importers.documents_of(text, name)
    raw = sorted({identity[2] for own in identities(documents) for identity in own if identity[2]}, key=len)
    if not raw:
        return {}
    names = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, reversed(raw)))})(?![\w-])")
    return {f"{end}.yaml": names.sub(rf"\g<0>{end}", text) for end in ("-a", "-mine", "-q", "-z")}


@pytest.mark.slow
def test_sharing_changes_no_answer_about_copies_of_the_examples_of_each_kind() -> None:
    shared = 0
    for name in (*OWN, *FOREIGN):
        sources = copies(name) if name.endswith((".yaml", ".yml")) else {}
        if sources and (spelled := groups(sources)):
            shared += sum(map(len, spelled))
            assert_shared_as_asked(sources, repairs=False)
    assert shared > 40


def test_every_table_of_words_counts_among_those_that_are_understood() -> None:
    tables = [table for name, table in vars(words).items() if name.isupper() and not isinstance(table, str)]
    assert words.TABLES in tables
    assert all(table in words.TABLES for table in tables if table is not words.TABLES)
    assert {"serve", "504", "replicas", "drain", "unready", "starts"} <= set(understood())
