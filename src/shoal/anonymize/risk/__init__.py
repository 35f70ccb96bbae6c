"""What a table reaches, counted anew, and how likely someone is found in it."""
