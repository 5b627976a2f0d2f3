"""Transformers as Support Vector Machines (talk)."""

SOURCE = "Transformers as Support Vector Machines"
