"""What runs inside training processes: torch and the standard library, nothing else of ours."""
