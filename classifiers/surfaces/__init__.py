"""One file per kind of payload, each exposing ``SURFACE``; see ``classifiers/surface.py``."""
