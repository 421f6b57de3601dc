"""Simple detectors that every comparison has as its floor."""
