"""What each kind of result says on its page and in a terminal."""
