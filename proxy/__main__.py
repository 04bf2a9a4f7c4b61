"""``python -m proxy``: the same as the ``onlooker`` command."""

from proxy.entry import main

main()
