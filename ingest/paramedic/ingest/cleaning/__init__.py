"""Turns what exporters say into canonical metrics: names, units, odd values, rates, identity."""
