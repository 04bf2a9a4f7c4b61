"""Which tool is which surface: mappers, each exposing ``MAP(call, context)``; see ``classifiers/dispatch.py``."""
