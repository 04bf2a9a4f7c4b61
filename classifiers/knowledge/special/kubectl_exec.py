"""kubectl exec: the pod is the first operand, the command what follows ``--`` (or the pod) (kubectl exec reference)."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed, Reading, Told
from classifiers.knowledge.words import Word


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:
    """``execute containers`` on the pod, then the inner command there."""
    separator = next((i for i, w in enumerate(words) if w.text == "--"), None)
    operands = reading.parsed.operands
    if not operands:
        return
    pod = operands[0]
    command = list(words[separator + 1 :]) if separator is not None else list(operands[1:])
    target = "pod:" + pod.text.removeprefix("pod/")
    fields = {"destructive": False if command else None, "reversibility": "unknown"}
    reading.items.append(Told(Verb.EXECUTE, Domain.CONTAINERS, target, fields, (name.span[0], pod.span[1]), pod))
    if pod.text.startswith("node/"):  # a pod on the node, with the node's own file system in it
        rights = {"destructive": False, "reversibility": "reversible", "privilege": "container_host"}
        reading.items.append(Told(Verb.GRANT, Domain.IDENTITY, pod.text, rights, pod.span, pod))
    if command:
        span = (command[0].span[0], command[-1].span[1])
        reading.items.append(Handed(Delegate("argv"), tuple(command), {"where": target}, span, "kubectl exec"))


SPECIAL = ("kubectl_exec", read)
