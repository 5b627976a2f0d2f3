"""The claims: one folder a source, one file a statement, named by its number in the source."""
