"""Subcommands of ``onlooker audit``, one file each exposing ``COMMAND``."""
