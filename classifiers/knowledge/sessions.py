"""A program started for a person to type into: a reading in, its starting told as an ``execute`` that may do anything.

What is typed there is not part of the call (an agent's later input is a call of its own), so the action is complete;
nobody knows what will be lost, so ``destructive`` is null. The reasons: ``docs/decisions/0010-sessions-are-read.md``.
"""

from __future__ import annotations

from classifiers.effects import Domain, Verb
from classifiers.knowledge.reading import Reading, Told
from classifiers.knowledge.words import Word


def begins_session(reading: Reading, *, piped: bool) -> bool:
    """The knowledge says so, or a shell on another machine has no orders and nobody to give them."""
    fed = reading.reads_stdin
    elsewhere = fed is not None and bool(fed.where) and not fed.where.endswith(":*")  # ``:*`` is how another connects
    return reading.session or (elsewhere and not piped)


def tell_session(reading: Reading, name: Word) -> None:
    """What the command executes by its own words is open to anything; with no such effect it is the program itself."""
    reading.session = True
    told = [i for i in reading.items if isinstance(i, Told) and _is_begun(i)]
    for item in told:
        item.fields = {**item.fields, "destructive": None}
    if not told:
        program = name.text.rpartition("/")[2]
        reading.items.append(Told(Verb.EXECUTE, Domain.PROCESS, program, {"destructive": None}, name.span, name))


def _is_begun(told: Told) -> bool:
    """A program, a connection, or a container or pod that runs its own."""
    begun = told.action is Verb.CREATE and told.domain in {Domain.CONTAINERS, Domain.CLOUD}
    return begun or told.action in {Verb.EXECUTE, Verb.SEND}
