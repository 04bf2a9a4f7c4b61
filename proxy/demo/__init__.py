"""A demonstration without key or network: two scripted agents through the real relay. See ``run.py``."""
