"""Scores what running jobs do with the pattern model in use, beside the judging.

    judging thread            this package's own thread
    JobDetector ─▶ JobFeed ─▶ PatternWatch ─▶ JobScoring ─▶ PatternReport
                              ServedModels (what is in production)

The scores decide nothing yet: they feed drift and metrics.
"""
