"""Why a verdict was given, and why none was: in words, as data and as a figure."""
