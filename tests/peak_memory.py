"""The most memory that a process of its own has held."""

from __future__ import annotations

# An expression for `python -c`, in kB.  `ru_maxrss` of Linux is not below what the parent held when it forked.
PEAK = "next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM'))"
