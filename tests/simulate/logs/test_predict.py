"""Recorded runs of real autoscalers: what the reader reads, what the prediction may know, and what it says."""

from __future__ import annotations

import functools
import re
import shutil
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coherence.base.errors import InputError, UsageError
from coherence.language.reading import read_design, read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices, execute
from coherence.simulate.logs import ReplayComparison, design_text, find_runs, rendered, replay_logs
from coherence.simulate.logs.compare import observed_of
from coherence.simulate.logs.events import read_starts, starts_of
from coherence.simulate.logs.facts import facts_of
from coherence.simulate.logs.manifests import DeploymentManifest, read_manifest
from coherence.simulate.logs.predict import predict, thresholds, values_of
from coherence.simulate.logs.runs import RunFiles, read_commands
from coherence.simulate.logs.series import autoscaler, pods
from coherence.simulate.logs.spread import SpreadConstraint, placeable
from coherence.simulate.logs.tables import read_table, table_of, unix, utc
from tests.draws import few
from tests.paths import DATA, read_yaml

RECORD = DATA / "k8s_failure_reproduction"
OBSERVED: dict[str, Any] = read_yaml(RECORD / "observed.yaml")
CASES = ("C1-min_scale", "C2-old_log", "C3-log")
LABELS = {"kind-worker": ("A", "1"), "kind-worker2": ("A", "2"), "kind-worker3": ("B", "3")}  # C3/wo_HPA/README.md


@functools.cache
def replayed(case: str) -> ReplayComparison:
    return replay_logs(RECORD / case)


def run_of(case: str) -> RunFiles:
    (run,) = find_runs(RECORD / case)
    return run


def nodes_of(names: tuple[str, ...]) -> dict[str, dict[str, str]]:
    return {name: dict(zip(("zone", "node"), LABELS[name], strict=True)) for name in names}


# -- the reader ---------------------------------------------------------------------------------

HPA = """idx,0,LOG_TIME,2024-01-13T21:28:15,2024-01-13T15:28:15,-,-
NAME,REFERENCE,TARGETS,MINPODS,MAXPODS,REPLICAS,AGE
web,Deployment/web,<unknown>/50%,1,6,0,1s
idx,1,LOG_TIME,2024-01-13T21:28:16,2024-01-13T15:28:16,-,-
NAME,REFERENCE,TARGETS,MINPODS,MAXPODS,REPLICAS,AGE
web,Deployment/web,67%/50%,1,6,4,2s
"""


def test_lines_of_an_autoscaler_are_typed() -> None:
    first, second = autoscaler(table_of(HPA)).shown
    assert (first.share, first.replicas) == (None, 0)
    assert (second.share, second.setpoint, second.least, second.most, second.replicas) == (
        Fraction(67, 100),
        Fraction(1, 2),
        1,
        6,
        4,
    )
    assert (second.name, second.target) == ("web", "web")
    assert utc(second.time) == "2024-01-13T21:28:16Z"


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (4, "idx,1,LOG_TIME,yesterday,-", "LOG_TIME without a time"),
        (4, "idx,1,LOG_TIME,2024-01-13T21:28:14,-", "time runs backwards"),
        (6, "web,Deployment/web,67%/50%", "3 cells where the header has 7"),
        (6, "web,Deployment/web,67%/50%,1,6,many,2s", "cannot be read"),
        (6, "web,Deployment/web,900Mi/1Gi,1,6,4,2s", "cannot be read"),
    ],
)
def test_a_malformed_line_is_told_with_its_place_and_left_out(line: int, text: str, said: str) -> None:
    lines = HPA.splitlines()
    lines[line - 1] = text
    series = autoscaler(table_of("\n".join(lines), "hpa.csv"))
    assert [(p.place.file, p.place.line) for p in series.problems] == [("hpa.csv", line)]
    assert said in series.problems[0].message
    assert len(series.shown) == (2 if "LOG_TIME" in text else 1)


def test_a_row_before_the_first_time_is_told() -> None:
    series = autoscaler(table_of("web,Deployment/web,67%/50%,1,6,4,2s\n" + HPA))
    assert [p.place.line for p in series.problems] == [1]
    assert len(series.shown) == 2


def test_the_status_of_an_autoscaler_is_empty_before_its_first_sync() -> None:
    other = "other,Deployment/other,67%/50%,1,6,9,2s\n"
    assert observed_of(autoscaler(table_of(HPA + other)), unix("2024-01-13T21:28:15")) == ((Fraction(1), 4),)
    assert observed_of(autoscaler(table_of(HPA.replace("<unknown>", "0%"))), unix("2024-01-13T21:28:15"))[0] == (
        Fraction(0),
        0,
    )


def test_readings_of_pods_are_exact_cores() -> None:
    text = "idx,0,LOG_TIME,2024-01-13T21:28:15,-\nNAME,CPU(cores),MEMORY(bytes),\na,101m,8Mi,\nb,2,8Mi,\nc,busy,8Mi,\n"
    series = pods(table_of(text))
    assert [(name, reading.cores) for name, (reading,) in series.readings] == [("a", Fraction(101, 1000)), ("b", 2)]
    assert [problem.place.line for problem in series.problems] == [5]


def test_the_recorded_logs_have_no_malformed_line() -> None:
    for log in RECORD.rglob("*-gethpa.log.csv"):
        assert autoscaler(read_table(log)).problems == ()
    for log in RECORD.rglob("*-toppod.log.csv"):
        assert pods(read_table(log)).problems == ()


def test_an_event_of_a_pod_counts_once_and_other_events_do_not() -> None:
    pod = {"kind": "Pod", "name": "a"}
    items = [
        {"involvedObject": pod, "reason": "Started", "firstTimestamp": "2024-01-13T21:28:20Z"},
        {"involvedObject": pod, "reason": "Started", "firstTimestamp": "2024-01-13T21:29:20Z"},
        {"involvedObject": pod, "reason": "Scheduled", "eventTime": "2024-01-13T21:28:18.123456Z"},
        {
            "involvedObject": {"kind": "ReplicaSet", "name": "s"},
            "reason": "Scheduled",
            "eventTime": "2024-01-13T21:28:18Z",
        },
    ]
    (start,) = starts_of(items)
    assert (start.bound, start.started) == (unix("2024-01-13T21:28:18"), unix("2024-01-13T21:28:20"))


@pytest.mark.parametrize("text", ["not json", "[]", '{"kind": "List"}'])
def test_events_that_are_no_events_are_an_input_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "events.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        read_starts(tmp_path / "events.txt")


def test_a_command_line_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    log = tmp_path / "command.csv"
    log.write_text("command,keyword,start_cdt,start_utc,end_cdt,end_utc\nkubectl apply -f a.yaml,apply\n", "utf-8")
    with pytest.raises(InputError, match=r"command\.csv:2:1"):
        read_commands(log)


def test_a_folder_must_hold_one_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none"):
        replay_logs(tmp_path)
    shutil.copy(run_of("C2-old_log").autoscaler, tmp_path)
    with pytest.raises(UsageError, match="toppod, command and events"):
        replay_logs(tmp_path)


# -- topology spread ----------------------------------------------------------------------------

BOTH = (SpreadConstraint("zone", 1), SpreadConstraint("node", 1))


def test_two_spread_constraints_leave_room_for_five_of_six() -> None:
    nodes = nodes_of(("kind-worker", "kind-worker2", "kind-worker3"))
    assert placeable(nodes, BOTH, 6) == (5, 5)
    assert placeable(nodes, BOTH[1:], 6) == (6, 6)
    assert placeable(nodes_of(("kind-worker", "kind-worker2")), BOTH, 6) == (6, 6)


def test_the_manifest_without_autoscaler_leaves_the_sixth_pod_pending_as_recorded() -> None:
    made = read_manifest(RECORD / "C3-wo_HPA" / "deploy.yaml")
    assert isinstance(made, DeploymentManifest)
    assert made.replicas == 6
    fewest, most = placeable(nodes_of(tuple(LABELS)), made.spreads, made.replicas)
    (log,) = (RECORD / "C3-wo_HPA").glob("*-getpod.log.csv")
    table = read_table(log)
    status_and_node = [(row.cells[2], row.cells[6]) for row in table.snapshots[-1].rows]  # `kubectl get pod -o wide`
    assert fewest == most == len([node for _, node in status_and_node if node != "<none>"]) == 5
    assert [status for status, node in status_and_node if node == "<none>"] == ["Pending"]


def test_as_many_pods_were_measured_as_find_a_node() -> None:
    facts = facts_of(run_of("C3-log"))
    assert facts.placeable == (5, 5)
    assert len(facts.pods) == 5
    assert facts.most == 6


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("ABC"), min_size=1, max_size=4), st.integers(1, 2), st.integers(0, 8))
def test_a_looser_constraint_never_takes_fewer_pods(zones: list[str], skew: int, wanted: int) -> None:
    nodes = {f"n{i}": {"zone": zone, "node": str(i)} for i, zone in enumerate(zones)}
    tight = placeable(nodes, (SpreadConstraint("zone", skew), SpreadConstraint("node", skew)), wanted)
    loose = placeable(nodes, (SpreadConstraint("zone", skew + 1), SpreadConstraint("node", skew + 1)), wanted)
    assert tight[0] <= tight[1] <= wanted
    assert tight[1] <= loose[1]


# -- what the autoscaler makes of readings ------------------------------------------------------


def kubernetes(replicas: int, counted: int, missing: int, used: Fraction, setpoint: Fraction) -> int:
    """The rule as the documentation words it, by sets of pods.  SOURCE: Kubernetes, HPA, Algorithm details."""

    def near(share: Fraction) -> bool:
        return abs(share / setpoint - 1) <= Fraction(1, 10)

    def whole(total: Fraction, over: int) -> Fraction:
        return Fraction(total * 100 // over, 100)

    unready = replicas - counted - missing
    if counted == 0:
        return replicas
    share = whole(used, counted)
    rises, falls = share > setpoint, share < setpoint
    if not missing and not (unready and rises):
        return replicas if near(share) else -((-share * counted) // setpoint)
    total, over = used, counted + (missing if rises or falls else 0)
    if missing and falls:
        total += missing * max(Fraction(1), setpoint)
    if rises:
        over += unready
    again = whole(total, over)
    if near(again) or (falls and again > setpoint) or (rises and again < setpoint):
        return replicas
    return -((-again * over) // setpoint)


@settings(max_examples=few(100), deadline=None)
@example((1, 1, 0), 500, 50)
@given(
    st.tuples(st.integers(0, 6), st.integers(0, 3), st.integers(0, 3)).filter(lambda n: sum(n) > 0),
    st.integers(0, 2500),
    st.sampled_from([30, 50, 80, 120]),
)
def test_the_part_answers_as_the_rule_by_sets_of_pods(sets: tuple[int, int, int], milli: int, percent: int) -> None:
    counted, missing, _ = sets
    replicas, setpoint = sum(sets), Fraction(percent, 100)
    used = Fraction(milli * counted, 1000)
    design = f"""
coherence: 1
system: one decision
components:
  reading: {{uses: hpa_cpu_reading, setpoint: {percent} %, replicas: app.replicas, counted: {counted},
            missing: {missing}, used: {float(used)}}}
loops:
  hpa:
    uses: kubernetes_hpa
    target: {{signal: reading.measured, setpoint: {percent} %}}
    timescale: {{hold_down: 0 s}}
    actuation: {{signal: app.replicas, bounds: [0, 1000], from: {replicas}, rate: []}}
"""
    (instant,) = execute(elaborate(read_text(design)), Choices(), instants=1)
    assert instant.after["app.replicas"] == kubernetes(replicas, counted, missing, used, setpoint)


# -- predictions --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", list(OBSERVED))
def test_the_recorded_replicas_of_every_run_are_predicted(name: str) -> None:
    """Where nothing unknown matters, the observed sequence is the only one."""
    model = elaborate(read_design(RECORD / "designs" / f"{name}.yaml"))
    found = predict(model, until=Fraction(OBSERVED[name]["until"]))
    assert found.complete
    assert values_of(OBSERVED[name]["shown"]) in found.sequences
    assert len(found.sequences) <= (1 if name.startswith("C2") else 4)


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_run_is_replayed_from_its_files(case: str) -> None:
    comparison = replayed(case)
    assert comparison.possible
    assert comparison.verdict == {"C1-min_scale": "possible", "C2-old_log": "equal"}.get(case, "equal, among others")
    assert max(comparison.time_errors) <= 20
    text = rendered(comparison)
    assert "observed" in text
    assert "predicted" in text


def test_a_written_design_may_be_given() -> None:
    design = RECORD / "designs" / "C2-old_log-2023-09-19T02-43-43.yaml"
    assert replay_logs(run_of("C2-old_log"), design).prediction == replayed("C2-old_log").prediction


@pytest.mark.parametrize(
    ("case", "pattern", "instead"),
    [
        ("C2-old_log", r"setpoint: 50 %", "setpoint: 80 %"),
        ("C2-old_log", r"seen: \d+ s, counted: [^,]*,", "seen: 900 s, counted: 900 s,"),
        ("C2-old_log", r"bounds: \[3, 5\]", "bounds: [2, 5]"),
        ("C3-log", r"max\(2 \* app.replicas, 4\)", "max(1 * app.replicas, 2)"),
    ],
)
def test_another_configuration_predicts_something_else(case: str, pattern: str, instead: str) -> None:
    run = run_of(case)
    text = re.sub(pattern, instead, design_text(run))
    assert text != design_text(run)
    comparison = replay_logs(run, read_text(text))
    assert comparison.verdict == "different"
    assert comparison.time_errors == ()
    assert "different" in rendered(comparison)


@pytest.mark.parametrize("case", CASES)
def test_the_recorded_replicas_are_no_input(case: str, tmp_path: Path) -> None:
    shutil.copytree(RECORD / case, tmp_path / case)
    (before,) = find_runs(RECORD / case)
    (after,) = find_runs(tmp_path / case)
    lines = []
    for line in after.autoscaler.read_text(encoding="utf-8").splitlines():
        cells = line.split(",")
        if cells[0] not in ("idx", "NAME"):
            cells[5], cells[2] = "2", f"17%/{cells[2].partition('/')[2]}"
        lines.append(",".join(cells))
    after.autoscaler.write_text("\n".join(lines), encoding="utf-8")
    assert values_of(observed_of(autoscaler(read_table(after.autoscaler)), 0)) == (2,)
    assert design_text(after) == design_text(before)


FREE = """
coherence: 1
system: two writers, and nobody knows when the second one looks
loops:
  apply:
    timescale: {period: 1 h, phase: 20 s}
    actuation: {signal: app.replicas, law: set, to: 1, mode: once, from: 4}
  again: {timescale: {period: 1 h, phase: 27 s}, actuation: {signal: app.replicas, law: set, to: 2, mode: once}}
  hpa: {timescale: {period: 15 s}, actuation: {signal: app.replicas, law: step, by: 0, bounds: [1, 6]}}
"""


def test_a_phase_that_is_not_stated_is_tried_at_every_second() -> None:
    model = elaborate(read_text(FREE))
    found = predict(model, until=Fraction(60))
    assert found.unknowns == ("phase of hpa",)
    assert found.sequences == ((4, 2), (4, 1, 2))  # the 1 is there for 7 s: phases 6 to 12 see it
    stated = predict(elaborate(read_text(FREE.replace("period: 15 s", "period: 15 s, phase: 8 s"))), until=Fraction(60))
    assert stated.sequences == ((4, 1, 2),)


def test_unknown_thresholds_are_those_that_were_not_measured() -> None:
    model = elaborate(read_text(design_text(run_of("C1-min_scale"))))
    found = thresholds(model)
    assert [one.constant for one in found] == ["pod1.counted", "pod2.counted", "pod3.counted"]
    assert all(one.low < one.high for one in found)


@settings(max_examples=few(8), deadline=None)
@given(st.tuples(*[st.fractions(0, 1, max_denominator=8)] * 3))
def test_every_choice_of_the_unknown_is_among_the_predictions(where: tuple[Fraction, ...]) -> None:
    """A law: the branches are all that any fixed value of the thresholds can show."""
    model, predicted = _small()
    chosen = {
        one.constant: one.low + share * (one.high - one.low)
        for one, share in zip(thresholds(model), where, strict=True)
    }
    run = execute(model, Choices(chosen), until=Fraction(200))
    shown: list[tuple[Fraction, int]] = []
    for instant in run:
        if instant.time >= 21 and (instant.time - 21) % 15 == 0:
            now = int(instant.sampled["app.replicas"])
            if not shown or shown[-1][1] != now:
                shown.append((instant.time, now))
    assert tuple(shown) in predicted


def _small(kept: list[Any] = []) -> Any:  # noqa: B006 - made once for all examples
    if not kept:
        model = elaborate(read_text(design_text(run_of("C1-min_scale"))))
        kept[:] = [model, set(predict(model, until=Fraction(200)).possible)]
    return kept


# -- the whole record ---------------------------------------------------------------------------


@pytest.mark.slow
def test_the_shipped_designs_and_observations_are_those_of_the_record(tmp_path: Path) -> None:
    with zipfile.ZipFile(RECORD / "further_runs.zip") as archive:
        archive.extractall(tmp_path)
    runs = [*map(run_of, CASES), *find_runs(tmp_path)]
    by_name = {name: run for run in runs for name in OBSERVED if name.endswith(run.stamp)}
    assert len(by_name) == len(runs) == len(OBSERVED) == 11
    for name, run in by_name.items():
        shipped = (RECORD / "designs" / f"{name}.yaml").read_text(encoding="utf-8")
        assert _without_title(design_text(run)) == _without_title(shipped)
        facts = facts_of(run)
        shown = observed_of(autoscaler(read_table(run.autoscaler)), facts.origin)
        assert [[int(time), count] for time, count in shown] == OBSERVED[name]["shown"]
        assert facts.end == OBSERVED[name]["until"]


def _without_title(text: str) -> list[str]:
    """The lines of a design but the one that names the folder of the run."""
    return [line for line in text.splitlines() if not line.startswith("system:")]
