"""From what was seen to checked lines, one subject a module."""
