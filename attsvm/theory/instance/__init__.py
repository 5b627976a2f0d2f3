"""An instance: its values as plain data, parts of it, the domain that searchers keep within."""
