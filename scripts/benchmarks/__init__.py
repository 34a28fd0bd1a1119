"""Benchmarks: one module for each promise. Each has a TITLE and `figures(rounds)`; `scripts/bench` runs them."""
