"""Grammars the language of command files cannot say: one file each, exposing ``SPECIAL = (name, function)``.

The function gets the reading so far, the program's word and all argument words, and appends items to the reading.
"""
