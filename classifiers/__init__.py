"""What a call could do. ``classify(call, context)`` is the package's one job."""

from classifiers.dispatch import classify

__all__ = ["classify"]
