"""From an outcome to files: rows written under labels, manifest, mapping."""
