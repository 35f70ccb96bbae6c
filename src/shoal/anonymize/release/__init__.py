"""Write a release: rows under their labels, with manifest, mapping and register of people."""
