"""Policies and objectives in force, behind the analyzer's ``Judge`` seam.

In: the configuration. Out: a ``Judge``.
"""

from __future__ import annotations

from proxy.analyzer.judge import Judge, NoJudge
from proxy.settings import Config


def load_judge(config: Config) -> Judge:  # noqa: ARG001 - no file is read before policies land
    return NoJudge()
