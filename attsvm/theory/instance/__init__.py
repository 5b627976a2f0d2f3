"""Instances: their exact values in files, edits of these values, and forms for readers."""
