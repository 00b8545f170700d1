"""The front door: one file for each verb of `import coherence`, and the results that the command line prints."""
