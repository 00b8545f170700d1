"""Every field of a file that is imported is in the design, listed, or a name; what is written reads as the same design.

The examples hold every kind.  By hand, for any files: `python -m tests.importers.field_reads FILE...`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from coherence import importers
from coherence.language.document import Document
from coherence.language.reading import read_text
from tests.importers.field_reads import silent
from tests.importers.test_hostile_manifests import FILES
from tests.paths import DATA

OWN = {
    str(path.relative_to(DATA / "every_kind")): path
    for path in sorted((DATA / "every_kind").rglob("*"))
    if path.is_file() and path.suffix != ".md"
}
FOREIGN = {
    str(path.relative_to(DATA / "manifests")): path
    for path in sorted((DATA / "manifests").rglob("*.*"))
    if path.suffix != ".md" and ".tpl." not in path.name
}
BOUND = {  # fields on which nothing depends beside the others of their file
    "sizes": ["controlledValues: RequestsOnly"],  # no limits of what is controlled
    "metrics": ["namespaceSelector.matchNames[0]: prod"],  # of a metric that no autoscaler reads
    "argo": ["syncOptions[0]: RespectIgnoreDifferences=true", "jsonPointers[0]: /spec/other"],  # not of replicas
    "hpa/production-stack-hpa-10.yaml": ["describedObject.name: default"],  # a namespace
    "training_jobs.yaml": ["flavors[0].name: any"],  # the only one
    "celeryconfig.py": [
        "settings.broker_url: redis://broker:6379/0"
    ],  # the time after which a task comes back is written
    "slurm/slurm-docker-cluster-25.11-slurm.conf": ["schedulertype: sched/backfill"],  # no preemption, no longest job
}


def example(name: str) -> list[Document]:
    """Returns the documents of an example."""
    if name in FILES:
        return importers.documents_of(json.dumps(FILES[name]), f"{name}.yaml")
    path = {**OWN, **FOREIGN}[name]
    return importers.documents_of(path.read_text(encoding="utf-8"), name)


def titles_of(documents: Sequence[Document]) -> list[str]:
    """Returns kind and name of each object that documents are read as."""
    _, _, manifests = importers._assembled(documents)
    return [manifest.title for manifest in manifests]


def unexpected(name: str) -> list[str]:
    """Returns the silent fields of an example, those that are known to be bound as they stand in the table."""
    known = BOUND.get(name, [])
    return [next((end for end in known if line.endswith(end)), line) for line in silent(example(name))]


@pytest.mark.parametrize("name", [*OWN, *FILES])
def test_every_field_has_an_effect_or_a_line(name: str) -> None:
    assert unexpected(name) == BOUND.get(name, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", FOREIGN)
def test_every_field_of_a_public_file_has_an_effect_or_a_line(name: str) -> None:
    assert unexpected(name) == BOUND.get(name, [])


@pytest.mark.parametrize("name", [*OWN, *FILES, *FOREIGN])
def test_a_design_that_is_written_reads_as_the_same(name: str) -> None:
    documents = example(name)
    again = read_text(importers.design_yaml(documents), documents[0].file)
    assert again == importers.design_of(documents)


def test_the_examples_hold_every_kind() -> None:
    titles = [title for name in (*OWN, *FILES, *FOREIGN) for title in titles_of(example(name))]
    assert not {kind for kind in importers.kinds() if not any(title.startswith(f"{kind} ") for title in titles)}
