"""Looks at what arrives from here, and says what detection would miss and what to change."""
