"""Objects of manifests by line, and pieces that are read from their own objects as from the whole texts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from coherence import importers
from coherence.checking.design_check import Options, analysis
from coherence.checking.manifest_slices import joined, own_sources, owners, slice_of
from coherence.checking.slicing import pieces
from coherence.checking.workspace import open_workspace
from tests.paths import ROOT

LIST = """apiVersion: v1
items:
- apiVersion: apps/v1
  kind: Deployment
  items:
  - a

- apiVersion: v1
kind: List
metadata:
  a: b
"""
JSON = """{
    "apiVersion": "v1",
    "items": [
        {
            "kind": "A",
            "items": [
                {
                    "b": 1
                }
            ]
        },
        {
            "kind": "B"
        }
    ],
    "kind": "List"
}
"""


def stack(name: str, replicas: int = 3) -> str:
    return f"""apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: web}}]}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {name}}}
spec:
  minAvailable: 2
  selector: {{matchLabels: {{app: {name}}}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: {name}}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {name}}}
  minReplicas: 2
  maxReplicas: 10
"""


TEXTS = {"a.yaml": f"{stack('web')}---\n{stack('api')}", "b.yaml": stack("shop", 2)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\n---\nb: 1\n--- # c\n", [1, 1 + 1, 2, 3, 3]),
        ("---\na: 1", [2, 2]),
        (LIST, [0, 0, 2, 2, 2, 2, 2, 3, 0, 0, 0, 0]),
        (JSON, [0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 0, 0, 0, 0]),
        ("a: 1\n---\nitems:\n  - x\n  -\n    y\nz: 1\n---\nb: 1", [1, 0, 0, 3, 4, 4, 0, 5, 5]),
    ],
)
def test_each_line_belongs_to_one_object(text: str, expected: list[int]) -> None:
    assert owners(text) == expected


def test_parts_with_an_object_in_common_are_joined() -> None:
    a, b, c, every = ("f", 1), ("f", 2), ("g", 1), ("f", 0)
    parts = [frozenset({a, every}), frozenset({b, every}), frozenset({c, every}), frozenset({a, c, every})]
    assert sorted(joined(parts)) == [[0, 2, 3], [1]]
    assert joined([]) == []


def test_a_slice_keeps_every_line_in_its_place() -> None:
    own = slice_of(TEXTS, frozenset({("a.yaml", 2)}))
    assert set(own) == {"a.yaml"}
    before, after = TEXTS["a.yaml"].split("\n"), own["a.yaml"].split("\n")
    assert after[:9] == [""] * 9
    assert after[9:16] == before[9:16]
    assert not any(after[16:]), "nothing stands behind the last line of the object"


def test_a_slice_of_the_last_object_ends_as_the_file_does() -> None:
    for text in ("a: 1\n---\nb: 2\n", "a: 1\n---\nb: 2"):
        assert slice_of({"a.yaml": text}, frozenset({("a.yaml", 2)})) == {"a.yaml": text.replace("a: 1", "")}


def test_each_workload_is_a_piece_and_is_read_from_its_own_objects() -> None:
    design = importers.design_from_sources(TEXTS)
    cut = pieces(design, TEXTS)
    assert [{file for file, _ in piece.objects} for piece in cut] == [{"a.yaml"}, {"a.yaml"}, {"b.yaml"}]
    assert {number for piece in cut[:2] for _, number in piece.objects} == {1, 2, 3, 4, 5, 6}
    for piece in cut:
        own = own_sources(piece.design, TEXTS, piece.objects, importers.design_from_sources)
        assert own is not None
        assert sum(text.count("kind:") for text in own.values()) == 4  # of three objects, and of a target


def test_a_slice_that_gives_another_part_is_no_slice() -> None:
    """An application holds replicas as they are declared; without it nobody writes them."""
    design = importers.design_from_sources(TEXTS)
    piece = pieces(design, TEXTS)[0]
    less = frozenset(sorted(piece.objects)[:2])
    assert own_sources(piece.design, TEXTS, less, importers.design_from_sources) is None
    assert own_sources(piece.design, TEXTS, frozenset(), importers.design_from_sources) is None


def in_pieces(sources: Mapping[str, str], *, cut: bool) -> list[tuple[object, ...]]:
    """Returns what is told of a design of manifests, asked in pieces or whole."""
    design = importers.design_from_sources(sources)
    found = analysis(design, sources, importers.design_from_sources, options=Options(time_limit=300.0), cut=cut)
    return sorted(
        (f.code, f.verdict, f.message, f.places, tuple(sorted(repr(r.edits) for r in f.repairs)))
        for f in found.answers.findings
    )


@pytest.mark.slow
def test_findings_and_repairs_are_those_of_the_whole_design() -> None:
    """Beside the pieces the whole is searched less: all conflicts share its re-checks."""
    sources = {"a.yaml": stack("web")}
    alone = in_pieces(sources, cut=False)
    together = in_pieces({**sources, "b.yaml": stack("shop", 2)}, cut=True)
    assert [row for row in together if "shop" not in str(row[2])] == alone


@pytest.mark.slow
def test_files_of_others_are_answered_alike_in_pieces_and_whole() -> None:
    entry = max(open_workspace([ROOT / "tests/data/manifests"]).entries, key=lambda each: len(each.sources))
    assert len(pieces(entry.design, entry.sources)) > 3
    rows = []
    for cut in (True, False):
        options = Options(time_limit=300.0, verify_repairs=False)
        found = analysis(entry.design, entry.sources, entry.rebuild, options=options, cut=cut)
        rows.append(sorted((f.code, f.verdict, f.message, f.places) for f in found.answers.findings))
    assert rows[0] == rows[1]
