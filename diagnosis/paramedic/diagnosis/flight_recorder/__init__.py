"""Dumps of PyTorch's flight recorder: which ranks hold the others up when a job hangs."""
