"""NVIDIA's management library, for a host on which no exporter runs."""
