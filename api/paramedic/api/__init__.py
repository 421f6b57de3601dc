"""What people see: REST, the command line, and the wiring of all parts."""
