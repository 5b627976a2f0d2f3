"""Syntax trees of our files, parsed once a process: files of tests that use them share a worker."""

import ast
import functools


@functools.cache
def parsed(file):
    """The syntax tree of a file; it must not be changed."""
    return ast.parse(file.read_text(encoding="utf-8"))
