"""What several statements of this source share."""
