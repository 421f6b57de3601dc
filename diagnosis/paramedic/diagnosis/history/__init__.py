"""What has failed before: who fails abnormally often, and what that says of new faults."""
