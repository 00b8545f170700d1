"""starvation: a job that fits waits for ever, while others come again and again and are let in before it.

## What
`comes: again` of a job says that whenever one has ended, one like it comes.  Arrivals, admissions, preemptions and
endings are one finite relation; a job starves where some run, on which every job that runs ends and a scheduler acts at
once, never lets it in.  What the first job of the order does to those behind it while it does not fit is said by
`blocked` of the order: it `is passed` (Kueue's BestEffortFIFO), it `holds its queue` (Kueue's StrictFIFO, Slurm's
partitions without backfill), it `holds all`, or it `is passed, reservation` by what delays it by nothing (backfill).
Where only a choice among equals lets it starve, who goes first is asked for.  To be let in is not to have ended: a
proof names the jobs from which others that come again may take each time before they end.

## Why it hurts
The large job needs all accelerators at one moment.  Each that becomes free is given to a small one at once, so that
moment never comes: utilisation is perfect, and the job is a week old.

## Example
```yaml
coherence: 1
components: {gpu: {count: 4}}
jobs:
  small: {needs: 1 gpu, copies: 4, comes: again}
  large: {needs: 4 gpu}
order: {admit: largest job.waited first, blocked: is passed}
```

## Instead
`blocked: holds all`, or `blocked: is passed, reservation` where the scheduler knows how long jobs run.  Against jobs of
a higher priority that never stop coming neither helps: let the order read `job.waited`.

## Source
Kueue documentation, Cluster Queue, Queueing strategy (StrictFIFO, BestEffortFIFO).  Slurm documentation, Scheduling
Configuration Guide: backfill starts lower-priority jobs if they delay the expected start of no higher one.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject

# a run of any length ends, which is all that its relation says of time
QUESTION = Question("COH248", "starvation", "ai.04 runtime control coherence", regardless=frozenset({"time", "end"}))
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer about the jobs of a design of which some come again."""
    again = [job.comes for job in subject.design.jobs.values() if job.comes is not None and job.comes.text == "again"]
    if again:
        from coherence.verify.patterns.placement import _starvation

        yield _starvation.answer(QUESTION, subject, again[0].place)
