"""Private summaries worth publishing alone."""
