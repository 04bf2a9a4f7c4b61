"""The parts of ``onlooker policy`` and ``onlooker objective``, one command a file."""
