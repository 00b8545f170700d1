"""Text from outside reaches no terminal, table or page as it is: no control characters, no credentials."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.cli._run import run

SECRET = "hunter2secret"  # noqa: S105  (not ours)
MANIFESTS = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, annotations: {{token: {SECRET}}}}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    spec:
      containers:
      - name: web
        image: registry/{SECRET}
        args: ["--password={SECRET}"]
        env: [{{name: PASSWORD, value: {SECRET}}}]
        livenessProbe:
          httpGet: {{path: "/h?apikey={SECRET}", port: 80, httpHeaders: [{{name: Authorization, value: "Bearer {SECRET}"}}]}}
        readinessProbe: {{exec: {{command: [curl, "-u", "user:{SECRET}", "http://x"]}}, periodSeconds: 5}}
        startupProbe: {{exec: {{command: [sh, -c, "mysql -p{SECRET}"]}}, periodSeconds: 5}}
        lifecycle: {{preStop: {{exec: {{command: ["sh", "-c", "curl -H {SECRET}"]}}}}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web}}
spec:
  scaleTargetRef: {{kind: Deployment, name: web}}
  minReplicas: 2
  maxReplicas: 5
  metrics:
  - type: External
    external: {{metric: {{name: q, selector: {{matchLabels: {{apikey: {SECRET}}}}}}}, target: {{type: Value, value: 3}}}}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {{name: worker}}
spec:
  scaleTargetRef: {{name: worker}}
  triggers:
  - type: prometheus
    metadata: {{serverAddress: "http://u:{SECRET}@prom", query: 'q{{apikey="{SECRET}"}}', threshold: '5'}}
"""  # fmt: skip  # noqa: E501


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["check", "--no-cache", "-v"],
        *(["check", "--no-cache", "-o", form] for form in ("json", "sarif", "markdown", "junit")),
        ["inventory"], ["inventory", "-o", "json"], ["inventory", "-o", "markdown"], ["graph"],
        ["import", "Deployment"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_secret_in_fourteen_places_of_manifests_is_never_shown(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(MANIFESTS, encoding="utf-8")
    assert run([*words, str(file)]) < 2
    printed = capsys.readouterr()
    assert "web" in printed.out
    assert SECRET not in printed.out + printed.err


TITLE = "\x1b]0;pwn\x07"


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_header_of_a_table_is_shown_with_escapes(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{t},{t % 7},{2 * (t % 7) + t % 3},{t % 5}\n" for t in range(80))
    (tmp_path / "t.csv").write_text(f"time,a.x,b.y,{TITLE}\n{rows}", encoding="utf-8")
    (tmp_path / "d.yaml").write_text("coherence: 1\ncomponents: {b: {y: a.x * k, k: 0 .. 9}}\n", encoding="utf-8")
    words = ["fit", str(tmp_path / "d.yaml"), "--telemetry", str(tmp_path / "t.csv"), "--loss", "b.y", "-o", form]
    assert run(words) < 2
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_an_objective_is_shown_with_escapes(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(
        'coherence: 1\nloops: {l: {objective: "\\e]0;pwn\\a<script>", actuation: {signal: a.b}}}\n', encoding="utf-8"
    )
    assert run(["inventory", str(file), "-o", form]) == 0
    printed = capsys.readouterr().out
    assert "pwn" in printed
    assert "\x1b" not in printed
    assert form != "markdown" or "<script>" not in printed


def test_a_name_in_an_error_is_shown_with_escapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "d.yaml"
    file.write_text('coherence: 1\nloops: {"\\e]0;pwn\\a": {actuation: {signal: a.b}}}\n', encoding="utf-8")
    assert run(["check", str(file)]) == 2
    assert r"'\x1b]0;pwn\x07' is not a name" in capsys.readouterr().err


KEY = "sk-" + "abcdefghijklmnopqrstuvwxyz1234"
LOOP = f"""coherence: 1
system: "password={SECRET}"
components: {{tank: {{state: "x' = 0.9 * x + tank.u", step: 1 s, from: 0}}}}
loops:
  valve:
    timescale: {{period: 1 s, phase: 0 s}}
    target: {{signal: tank.x, setpoint: 4}}   # token={SECRET}
    actuation: {{signal: tank.u, law: proportional, bounds: [1, 10], from: 2}}
"""


@pytest.fixture
def secretive(tmp_path: Path) -> Path:
    """Returns a folder with a design and telemetry that name credentials in paths, columns and values."""
    (tmp_path / f"password={SECRET}.yaml").write_text(LOOP, encoding="utf-8")
    rows = [f"{row},{row % 7},{row % 5},{row % 3},{row % 4}" for row in range(200)]
    header = f'time,"db?password={SECRET}",tank.x,"http://u:{SECRET}@h/m",{KEY}'
    (tmp_path / "t.csv").write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["analyze", "DESIGN", "--picture", "PICTURE"], ["analyze", "DESIGN", "-o", "json"],
        ["sweep", "DESIGN", "-p", "loops.valve.target.setpoint=3:5:2", "--picture", "PICTURE", "--jobs", "1"],
        ["fit", "DESIGN", "--telemetry", "CSV", "--loss", KEY, "--picture", "PICTURE"],
        ["fit", "DESIGN", "--telemetry", "CSV", "--loss", "tank.x", "-o", "json"],
        ["simulate", "DESIGN", "--for", "10 s", "--runs", "1"], ["simulate", "DESIGN", "--set", f"token={SECRET}"],
        ["region", "DESIGN", "-p", "loops.valve.target.setpoint=3:5"], [KEY], ["analyze", f"--{KEY}", "DESIGN"],
        ["check", "--no-cache", "--diff", "DESIGN"], ["check", "--no-cache", "-o", "json", "DESIGN"],
        ["graph", "DESIGN"],
    ],
    ids=lambda words: " ".join(words[:4]).replace(KEY, "KEY").replace(SECRET, "SECRET"),
)  # fmt: skip
def test_paths_columns_and_words_of_the_command_line_show_no_credential(
    words: list[str], secretive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"DESIGN": f"password={SECRET}.yaml", "CSV": "t.csv", "PICTURE": "p.svg"}
    run([str(secretive / places[word]) if word in places else word for word in words])
    printed = capsys.readouterr()
    assert printed.out + printed.err
    picture = secretive / "p.svg"
    drawn = picture.read_text(encoding="utf-8") if "PICTURE" in words else ""
    for secret in (SECRET, KEY):
        assert secret not in printed.out + printed.err + drawn
