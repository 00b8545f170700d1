"""Values of manifests that may be secrets: nothing of a design that was imported holds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import InputError
from coherence.base.places import Place
from coherence.checking.reports import report
from coherence.checking.workspace import open_workspace
from coherence.cli._run import run
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar
from coherence.reporting import formats, render

SECRET = "hunter2"  # noqa: S105  (the word that must be seen nowhere)
PROBED = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - name: web
        env: [{{name: PASSWORD, value: {SECRET}}}]
        livenessProbe:
          httpGet: {{path: "/live?token={SECRET}", port: 80, httpHeaders: [{{name: X-Auth, value: {SECRET}}}]}}
        readinessProbe:
          exec: {{command: [check, --with, {SECRET}]}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
  minReplicas: 1
  maxReplicas: 9
  metrics:
  - type: External
    external:
      metric: {{name: q, selector: {{matchLabels: {{apikey: {SECRET}_long, queue: orders}}}}}}
      target: {{type: AverageValue, averageValue: 3}}
"""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "web.yaml"
    path.write_text(PROBED, encoding="utf-8")
    return path


def test_a_hidden_text_has_one_name() -> None:
    sketch = Sketch(Place("f", 1, 1, 1, 1))
    assert [sketch.hidden(text) for text in ("a", "b", "a")] == ["hidden1", "hidden2", "hidden1"]
    assert sketch.concealed("queue=orders") == "queue=orders"
    assert sketch.concealed(f"apikey={SECRET}") == "apikey=hidden3"


def test_a_timer_runs_while_an_activity_does_and_stands_where_its_time_stands() -> None:
    sketch, place = Sketch(Place("f", 1, 1, 1, 1)), Place("f", 7, 1, 7, 3)
    name = sketch.put_timer("grace", during="web.drain", after=Scalar("30 s", place), then="kill web", layer="runtime")
    timer = sketch.get("timers", name)
    assert timer is not None
    assert timer.place == place
    assert {key: (it.text, it.place.line) for key, it in timer.entries.items() if isinstance(it, Scalar)} == {
        "layer": ("runtime", 7),
        "from": ("web.drain starts", 7),
        "after": ("30 s", 7),
        "unless": ("web.drain ends", 7),
        "then": ("kill web", 7),
    }


def test_a_timer_of_an_event_has_no_more_than_it_states_and_a_name_of_its_own() -> None:
    sketch = Sketch(Place("f", 1, 1, 1, 1))
    names = [sketch.put_timer("check", Place("f", 4, 1, 4, 1), start="web hangs") for _ in range(2)]
    timers = [sketch.get("timers", name) for name in names]
    assert names == ["check", "check_2"]
    assert [(list(timer.entries), timer.place.line) for timer in timers if timer is not None] == [(["from"], 4)] * 2


def test_a_limit_stands_where_its_number_stands_and_is_one_of_the_runtime_unless_it_says_more() -> None:
    sketch, most = Sketch(Place("f", 1, 1, 1, 1)), Scalar("8", Place("f", 7, 1, 7, 2))
    sketch.put_limit("slots", "web.ongoing", most, "wait", per="replica")
    sketch.put_limit("budget", "web.down", most, uses="disruption_budget")
    limits = [sketch.get("limits", name) for name in ("slots", "budget")]
    assert [[(key, getattr(it, "text", "")) for key, it in limit.entries.items()] for limit in limits if limit] == [
        [("layer", "runtime"), ("counts", "web.ongoing"), ("at_most", "8"), ("per", "replica"), ("when_full", "wait")],
        [("uses", "disruption_budget"), ("counts", "web.down"), ("at_most", "8")],
    ]
    assert [limit.place.line for limit in limits if limit is not None] == [7, 7]


def test_no_output_of_a_manifest_holds_a_secret(manifest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["import"], ["inventory"], ["inventory", "-o", "json"], ["graph"], ["check", "-v"]):
        run([*words, str(manifest)])
    made = report(open_workspace([manifest]))
    texts = [render(form, made, **({"verbose": True} if form == "text" else {})) for form in formats()]
    out = capsys.readouterr()
    assert out.out.count("hidden") > 5
    assert "queue_orders" in out.out
    for text in (out.out, out.err, *texts):
        assert SECRET not in text


def test_probes_that_ask_the_same_see_the_same(manifest: Path) -> None:
    sees = {name: str(timer.sees) for name, timer in open_workspace([manifest]).entries[0].design.timers.items()}
    assert sees == {
        "web_liveness": "httpGet X-Auth hidden1 /live?hidden2 80",
        "web_readiness": "exec check hidden3 hidden1",
    }


def test_a_wrong_quantity_is_not_echoed(tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text(PROBED.replace("averageValue: 3", f"averageValue: {SECRET}"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        open_workspace([tmp_path / "d.yaml"])
    assert SECRET not in str(caught.value)
    assert SECRET not in str(open_workspace([tmp_path]).refused)
    assert "a text of 7 characters, a quantity expected" in str(caught.value)
