"""Bytes in, bytes out, and the composition of everything behind them."""
