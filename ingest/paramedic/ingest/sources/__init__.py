"""Where telemetry comes from: exporters, Prometheus, other tools' topics, logs, recordings."""
