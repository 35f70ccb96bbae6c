"""What a command does between its options and its output, for every face of shoal to call."""
