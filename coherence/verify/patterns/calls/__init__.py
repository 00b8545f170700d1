"""Questions about calls: deadlines, retries, drains, amplification."""
