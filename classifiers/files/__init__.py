"""File tools: which operation on which path. The surface is ``classifiers/surfaces/files.py``."""
