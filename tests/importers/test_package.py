"""Manifests together: one design, nothing dropped, the same answers from its YAML, and no crash on any input."""

from __future__ import annotations

import itertools
import json
import re
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.design_check import analyse
from coherence.checking.input_files import OTHERS
from coherence.checking.reports import check
from coherence.checking.workspace import open_workspace
from coherence.findings.finding import Finding, Severity, Verdict
from coherence.importers import (
    deployment,
    horizontal_pod_autoscaler,
    istio_destination_rule,
    istio_virtual_service,
    keda_scaled_object,
)
from coherence.importers._registry import importer_modules
from coherence.language import document
from coherence.language.design import Design
from coherence.language.reading import read_text
from tests.draws import few
from tests.paths import DATA
from tests.strategies import problems_in

MANIFESTS = DATA / "manifests"
FOLDERS = ("istio", "hpa", "keda", "deployment-probes", "envoy", "pdb", "volcano", "torchrun-elastic", "descheduler")
HPA_10, SCALED = "hpa/production-stack-hpa-10.yaml", "keda/production-stack-scaledobject.yaml"
GEMMA = ("hpa/k8s-examples-vllm-gpu-hpa.yaml", "hpa/k8s-examples-vllm-hpa.yaml")  # two examples of one target
ALARMS = (
    GEMMA,
    (HPA_10, SCALED),
    *((hpa, "deployment-probes/k8s-examples-vllm-deployment.yaml") for hpa in GEMMA),  # replicas beside an autoscaler
    ("hpa/k8s-failure-repro-C1-hpa.yaml", "deployment-probes/k8s-failure-repro-C1-deployment.yaml"),
)


def files() -> list[str]:
    """Every collected file of the kinds known here."""
    found = itertools.chain.from_iterable((MANIFESTS / folder).glob("*.y*ml") for folder in FOLDERS)
    return sorted(str(path.relative_to(MANIFESTS)) for path in found)


def loud(findings: tuple[Finding, ...]) -> list[str]:
    return [f.code for f in findings if f.severity is not Severity.INFO]


def answers(design: Design, text: str) -> list[tuple[str, Verdict]]:
    found = analyse(design, {design.file: text}, lambda _: design, verify_repairs=False).findings
    return sorted((f.code, f.verdict) for f in found)


def readable(name: str) -> bool:
    """Is the file YAML?  Templates are not."""
    return not problems_in(lambda: open_workspace([MANIFESTS / name]))


def test_only_templates_are_refused() -> None:
    assert [name for name in files() if not readable(name)] == [
        "hpa/production-stack-hpa-router.tpl.yaml",
        "keda/production-stack-scaledobject.tpl.yaml",
    ]


@pytest.mark.parametrize("name", files())
def test_the_written_design_gives_the_same_answers(name: str) -> None:
    path = MANIFESTS / name
    if not readable(name):
        with pytest.raises(InputError, match="render it first"):
            document.read(path.read_bytes(), name)
        return
    text = path.read_text(encoding="utf-8")
    sources = [
        source for source in document.read_text(text, name, last_key_counts=True) if importers.recognises(source)
    ]
    assert sources
    written = importers.design_yaml(sources)
    assert answers(read_text(written), written) == answers(importers.design_of(sources), text)


@pytest.mark.parametrize("name", files())
def test_no_alarm_for_one_file(name: str) -> None:
    if readable(name):
        assert loud(check(MANIFESTS / name).findings) == []


@pytest.mark.parametrize(
    "chosen", [("istio",), ("hpa",), ("keda",), ("deployment-probes",), pytest.param(FOLDERS, marks=pytest.mark.slow)]
)
def test_the_folders_alarm_at_the_known_pairs_alone(chosen: tuple[str, ...]) -> None:
    # the workspace skips what is not YAML where only the folder is named
    findings = check(*(MANIFESTS / folder for folder in chosen)).findings
    pairs = [pair for pair in ALARMS if {name.split("/")[0] for name in pair} <= set(chosen)]
    assert loud(findings) == ["COH205"] * len(pairs)
    alarming = [
        {place.file for place in finding.places if not place.file.startswith("models/")}
        for finding in findings
        if finding.severity is not Severity.INFO
    ]
    assert sorted(map(sorted, alarming)) == sorted(sorted(str(MANIFESTS / name) for name in pair) for pair in pairs)


@pytest.mark.slow
def test_two_autoscalers_of_one_workload_disagree() -> None:
    assert "COH205" in loud(check(MANIFESTS / HPA_10, MANIFESTS / SCALED).findings)


@pytest.mark.parametrize(
    ("module", "kind", "groups"),
    [
        (deployment, "Deployment", ("apps", "extensions")),
        (horizontal_pod_autoscaler, "HorizontalPodAutoscaler", ("autoscaling",)),
        (istio_destination_rule, "DestinationRule", ("networking.istio.io",)),
        (istio_virtual_service, "VirtualService", ("networking.istio.io",)),
        (keda_scaled_object, "ScaledObject", ("keda.sh",)),
    ],
)
def test_each_kind_has_one_module(module: ModuleType, kind: str, groups: tuple[str, ...]) -> None:
    assert (kind, groups) == (module.KIND, module.GROUPS)
    assert kind in importers.kinds()
    foreign = f"apiVersion: example.org/v1\nkind: {kind}\nmetadata: {{name: web}}\n"
    (_, words), *_ = importers.design_from_sources({"web.yaml": foreign}).not_modelled
    assert kind in words


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
"""
HPA = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {scaleTargetRef: {kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 5}
"""


def checked(sources: dict[str, str]) -> tuple[Finding, ...]:
    design = importers.design_from_sources(sources)
    return analyse(design, sources, importers.design_from_sources).findings


@pytest.mark.parametrize("replicas", ["3", "9"])
def test_stated_replicas_throw_back_what_an_autoscaler_chose(replicas: str) -> None:
    stated = DEPLOYMENT.replace("replicas: 3", f"replicas: {replicas}")
    findings = checked({"web.yaml": stated, "hpa.yaml": HPA})
    assert [(f.verdict, f.certainty) for f in findings if f.code == "COH205"] == [(Verdict.CONFLICT, "possible")]
    assert loud(findings) == ["COH205"]
    assert loud(checked({"web.yaml": DEPLOYMENT.replace("  replicas: 3\n", "  {}\n"), "hpa.yaml": HPA})) == []


SCALED_OBJECT = """\
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web}
spec:
  scaleTargetRef: {name: web}
  minReplicaCount: 2
  maxReplicaCount: 5
  triggers: [{type: cpu, metadata: {value: '60'}}]
"""


@pytest.mark.slow
def test_two_autoscalers_alarm_until_one_is_gone_whatever_their_targets() -> None:
    assert loud(checked({"so.yaml": SCALED_OBJECT, "hpa.yaml": HPA})) == ["COH205"]
    assert loud(checked({"so.yaml": SCALED_OBJECT.replace("'60'", "'80'"), "hpa.yaml": HPA})) == ["COH205"]
    assert loud(checked({"so.yaml": SCALED_OBJECT})) == []


def test_several_files_are_one_design() -> None:
    made = importers.design_from_sources({"web.yaml": DEPLOYMENT, "hpa.yaml": HPA})
    assert set(made.components) == {"web"}
    assert {loop.place.file for loop in made.loops.values()} == {"web.yaml", "hpa.yaml"}


def test_the_items_of_a_list_are_read() -> None:
    text = f"apiVersion: v1\nkind: List\nitems: [{json.dumps({'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'web'}, 'spec': {'replicas': 2}})}]\n"  # noqa: E501
    assert set(importers.design_from_sources({"list.yaml": text}).components) == {"web"}


def test_unknown_kinds_groups_and_fields_are_listed_with_their_line() -> None:
    unknown = "---\napiVersion: v1\nkind: Secret\n---\napiVersion: serving.knative.dev/v1\nkind: Deployment\n"
    made = importers.design_from_sources({"web.yaml": f"{DEPLOYMENT}  minReadySeconds: 5\n{unknown}"})
    listed = {place.line: words for place, words in made.not_modelled}
    assert set(listed) == {6, 9, 12}
    assert "spec.minReadySeconds" in listed[6]


TEMPLATES = (
    DEPLOYMENT.replace("3", "{{ .Values.replicas }}"),
    DEPLOYMENT.replace("3", "'{{ .Values.replicas }}'"),
    DEPLOYMENT.replace("name: web", "name: '{{ .Release.Name }}'"),
    "{{- if .Values.on }}\n" + DEPLOYMENT + "{{- end }}\n",
)


@pytest.mark.parametrize("text", TEMPLATES[1:])
def test_templates_are_to_be_rendered_first(text: str) -> None:
    with pytest.raises(InputError) as caught:
        importers.design_from_sources({"t.yaml": text})
    assert any("render it first" in problem.remedy for problem in caught.value.problems)


@pytest.mark.parametrize("text", [TEMPLATES[0], DEPLOYMENT + "   broken: [\n", ""])
def test_what_is_no_manifest_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        importers.design_from_sources({"t.yaml": text})


@pytest.mark.parametrize("name", ["\x7f", "\x85", "\u2028", "\ufeff", "null", "~", "a: b # c", "😀", '"', "\\"])
def test_odd_names_are_written_so_that_they_read_the_same(name: str) -> None:
    root = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}}
    source = document.read_text(json.dumps(root, ensure_ascii=name != "😀"), "m.json")
    assert read_text(importers.design_yaml(source)).components == importers.design_of(source).components


KNOWN = (
    ("apps/v1", "Deployment"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("keda.sh/v1alpha1", "ScaledObject"),
    ("networking.istio.io/v1", "VirtualService"),
    ("networking.istio.io/v1", "DestinationRule"),
)
KEYS = re.findall(
    r"\w+",
    """
    replicas template spec containers name resources requests limits cpu memory livenessProbe startupProbe
    periodSeconds strategy rollingUpdate maxSurge lifecycle preStop sleep seconds terminationGracePeriodSeconds
    scaleTargetRef kind minReplicas maxReplicas metrics type resource pods object external metric target
    averageUtilization averageValue value behavior scaleUp scaleDown stabilizationWindowSeconds policies selectPolicy
    tolerance triggers metadata threshold query queueName queueLength metricType minReplicaCount maxReplicaCount
    advanced horizontalPodAutoscalerConfig http route destination host timeout retries attempts perTryTimeout retryOn
    trafficPolicy outlierDetection maxEjectionPercent minHealthPercent connectionPool tcp maxConnections subsets
""",
)
WORDS = (
    "web",
    "cpu",
    "memory",
    "Pods",
    "Percent",
    "Min",
    "Disabled",
    "Resource",
    "prometheus",
    "5xx",
    "",
    "~",
    "é:\n#",
)
LEAVES = (
    st.sampled_from((*WORDS, "0", "1", "-1", "25%", "100m", "1Ki", "1e99", "2s", "0s", "1m30s", "0.5", "9" * 30))
    | st.integers(-2, 10**6)
    | st.none()
    | st.booleans()
    | st.text(max_size=6)
)
NESTED = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=25,
)
WHOLE: dict[str, object] = {
    "scaleTargetRef": {"name": "web", "kind": "Deployment"}, "maxReplicas": 5, "host": "web",
    "triggers": [{"type": "cpu", "metadata": {"value": "60"}}],
    "http": [{"route": [{"destination": {"host": "web"}}], "retries": {"attempts": 2}}],
    "template": {"spec": {"containers": [{"name": "a", "livenessProbe": {}}]}}, "replicas": 2,
}  # fmt: skip


@given(st.sampled_from(KNOWN), st.dictionaries(st.sampled_from(KEYS), NESTED, max_size=6), NESTED, st.booleans())
@settings(max_examples=few(60), deadline=None)
def test_any_mapping_is_a_design_or_an_input_error(
    known: tuple[str, str], spec: dict[str, object], name: object, whole: bool
) -> None:
    full = {**WHOLE, **spec} if whole else spec
    text = json.dumps({"apiVersion": known[0], "kind": known[1], "metadata": {"name": name}, "spec": full})
    problems = problems_in(lambda: importers.design_from_sources({"m.json": text}))
    if problems:
        assert all(problem.place.file for problem in problems)
        return
    made = importers.design_from_sources({"m.json": text})
    sources = document.read_text(text, "m.json", last_key_counts=True)
    assert set(read_text(importers.design_yaml(sources)).loops) == set(made.loops)


def test_files_of_every_syntax_that_an_importer_reads_are_looked_at_in_a_folder() -> None:
    assert set(OTHERS) == {module.SUFFIX for module in importer_modules().values() if hasattr(module, "SUFFIX")}
