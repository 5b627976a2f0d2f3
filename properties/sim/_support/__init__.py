"""What several statements of this source share: definitions, constants, domains."""
