"""The node agent: what the operating system and the trainers say, once a second, on the bus."""
