"""The real testbed: a design on real processes over loopback, observation laid beside prediction.

`set_up` says what is to be run, `proxies` write it for one proxy each, `backend` and `load` are the two programs
around it, `processes` starts and always stops them, `observe` measures, `predict` simulates the same.
"""
