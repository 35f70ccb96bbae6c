"""The programs people run; nothing else leans on them."""
