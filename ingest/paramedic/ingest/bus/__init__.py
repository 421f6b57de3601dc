"""The bus: in memory for tests, on a Unix socket for one machine, over Kafka for many."""
