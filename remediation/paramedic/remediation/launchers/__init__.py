"""Launcher adapters: one port, one module for each way of starting a job."""
