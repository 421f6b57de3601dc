"""Diagnosis: evidence adds up until a verdict is safe."""
