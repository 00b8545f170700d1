"""The rules of a design: Prometheus' own checker takes them, with hostile names."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from bench.known_systems.scraped import DESIGN
from coherence.language.reading import read_text
from coherence.watching.alert_rules import alert_rules
from coherence.watching.signals import watched_system
from tests.watching.systems import system

PROMTOOL = shutil.which("promtool")


def test_deadlines_and_changes_have_rules() -> None:
    (group,) = yaml.safe_load(alert_rules(system()))["groups"]
    rules = {rule["alert"]: rule["expr"] for rule in group["rules"]}
    assert rules["CoherenceDeadline"] == "(latency_p99) > 4"
    assert "web" in rules["CoherenceBreachToday"]


@pytest.mark.skipif(PROMTOOL is None, reason="prometheus is not installed")
def test_the_checker_of_prometheus_takes_them(tmp_path: Path) -> None:
    assert PROMTOOL is not None
    file = tmp_path / "rules.yaml"
    watched = watched_system(read_text(DESIGN, "d.yaml"), 'a "b" {{ c }}\n: # é')
    file.write_text(alert_rules(watched), encoding="utf-8")
    done = subprocess.run([PROMTOOL, "check", "rules", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
