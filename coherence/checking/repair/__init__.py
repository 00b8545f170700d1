"""The nearest change that removes a finding: which numbers it hangs on, and which edits hold when asked again."""
