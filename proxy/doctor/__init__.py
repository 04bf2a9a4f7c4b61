"""Checks of a configuration against the machine it is to run on."""
