"""What the proofs about sensors and their windows stand on, named in the findings."""

from __future__ import annotations

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.sensors import sensor_delay, sensor_window

TEXT = """coherence: 1
loops:
  hpa:
    timescale: {{period: 15 s, hold_down: 5 min}}
    target: {{signal: "{signal}", setpoint: 0.5, sensor: [{sensor}]}}
    actuation: {{signal: web.desired, law: proportional, bounds: [1, 10]}}
"""


def asked(sensor: str, signal: str = "web.cpu") -> tuple[Finding, Finding]:
    text = TEXT.format(sensor=sensor, signal=signal)
    subject = Subject(read_text(text, "d"), {"d": text})
    (window,), (delay,) = sensor_window.ask(subject), sensor_delay.ask(subject)
    return window, delay


def test_proofs_name_that_samples_come_in_time() -> None:
    window, delay = asked("scrape 15 s, rate 60 s")
    assert (window.verdict, delay.verdict) == (Verdict.PROVED, Verdict.PROVED)
    assert window.assumptions == ("no more than 2 scrapes in a row are lost or late",)
    assert delay.assumptions == ("no sample of the sensor is lost or late, and hpa misses no period",)
    assert asked("scrape 30 s, rate 60 s")[0].assumptions == ("no scrape is lost or late",)


def test_the_age_of_a_reading_is_that_of_its_signal_too() -> None:
    _, delay = asked("scrape 15 s, rate 60 s", "delayed(web.cpu, 10 min)")
    assert {name: value for name, (value, _) in delay.evidence.numbers.items()} == {
        "mean delay": 645, "longest delay": 690, "hold_down": 300,
    }  # fmt: skip
    _, late = asked("scrape 15 s, rate 60 s", "max(web.cpu, delayed(web.cpu, 10 min))")
    assert late.verdict is Verdict.CONFLICT  # a dip is seen at once and ten minutes later


def test_one_value_that_is_seen_long_fills_the_window() -> None:
    _, delay = asked("scrape 15 s, rate 60 s", "delayed(mean_over(web.cpu, 10 min), 1 min)")
    assert delay.verdict is Verdict.CONFLICT
    assert delay.message.startswith("hpa may see one sample for 11.5 min, but hold_down covers only 5 min")
    assert [step.time for step in delay.evidence.witness] == [0, 360, 750]


def test_an_output_that_reads_its_own_past_has_no_age() -> None:
    text = TEXT.format(signal="web.cpu", sensor="scrape 15 s, rate 60 s")
    text += 'components: {web: {load: 3, cpu: "0.9 * previous(cpu) + 0.1 * load / desired"}}\n'
    (delay,) = sensor_delay.ask(Subject(read_text(text, "d"), {"d": text}))
    assert delay.verdict is Verdict.UNDECIDED
    assert delay.message == "needs how old the signal of hpa is: no time bounds the past that it reads"
