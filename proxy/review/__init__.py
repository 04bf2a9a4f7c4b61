"""The review page: recorded actions for people, in the order an auditor asks. See docs/review.md."""
