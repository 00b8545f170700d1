"""Options that would have no effect are refused by name, in every command that has such."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.__main__ import main
from tests.paths import ROOT

STORM = str(ROOT / "specs" / "retry-storm" / "design.yaml")
LOSS = str(ROOT / "specs" / "loss-attribution" / "design.yaml")
TELEMETRY = str(ROOT / "specs" / "loss-attribution" / "telemetry.csv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", LOSS, "--telemetry", TELEMETRY, "--from", "1", "--to", "2"], "--from and --to would have no effect"),
        (["fit", LOSS, "--telemetry", TELEMETRY, "--cluster", "tcp://h:1"], "--cluster would have no effect"),
        (["fit", LOSS, "--prometheus", "http://h", "--duplicates", "last"], "--duplicates would have no effect"),
        (
            ["simulate", STORM, "--observed", ".", "--runs", "3", "-o", "json"],
            "--runs and --output would have no effect",
        ),
        (["analyze", "--network", "n.yaml", "--no-retune"], "--retune would have no effect"),
        (["reproduce", STORM, "--pause", "3s"], "--pause would have no effect"),
        (["reproduce", STORM, "--with", "nginx", "--dry-run", "-o", "json"], "--output would have no effect"),
        (["bound", "--list", "all_gather"], "TARGET would have no effect"),
        (["bound", "--prove", "all_gather", "n=3"], "INPUTS would have no effect"),
        (["bound", "all_gather", "--certificates", "f"], "--certificates would have no effect"),
        (["bound", "all_reduce_end_point", "n=8", "-o", "latex"], "takes no values"),
        (["check", STORM, "--expect", "-o", "json"], "--output would have no effect"),
        (["check", STORM, "--watch", "--strict"], "--strict would have no effect"),
        (["check", STORM, "--diff", "--without", "start"], "--without would have no effect"),
        (["check", STORM, "--diff", "-o", "json"], "--output would have no effect"),
        (["check", STORM, "--diff", "-v"], "--verbose would have no effect"),
        (["check", STORM, "-o", "json", "-o", "sarif=FILE", "-v"], "--verbose would have no effect"),
        (["fit", LOSS, "--telemetry", TELEMETRY, "--jobs", "2", "--cluster", "c"], "--jobs and --cluster would have"),
        (["fit", LOSS, "--telemetry", TELEMETRY, "--seed", "2"], "--seed would have no effect"),
        (
            ["fit", LOSS, "--telemetry", TELEMETRY, "--bootstrap", "30", "--cluster", "c", "--jobs", "2"],
            "--jobs would have no effect",
        ),
    ],
)
def test_an_option_without_an_effect_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_log_of_devices_is_refused_by_a_design_without_devices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "d.yaml").write_text(
        "coherence: 1\ncomponents: {job: {loss: src.a * k, k: 0 .. 9}}\n", encoding="utf-8"
    )
    rows = "".join(f"{t},{t % 7},{2 * (t % 7) + t % 3}\n" for t in range(60))
    (tmp_path / "t.csv").write_text("time,src.a,job.loss\n" + rows, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["fit", str(tmp_path / "d.yaml"), "--telemetry", str(tmp_path / "t.csv"), "--ledger", "nosuch.csv"])
    assert ended.value.code == 2
    assert "--ledger: nosuch.csv is not read, for the design has no fleet" in capsys.readouterr().err
