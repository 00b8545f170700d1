"""Changes every value of a design in several ways, and tells which values a command's output does not show.

A value is silent where no change of it has an effect on the output, no line names it as not read, and it does not take
part in a decision of the output that another value binds (`judging.py`; docs/adr/018-account-of-reads.md).  By hand,
over files and folders: `python -m tests.perturbation COMMAND PATH...`.
"""
