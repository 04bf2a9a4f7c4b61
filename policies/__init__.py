"""Whether an action was in scope: policies, objectives, verdicts."""
