"""The claims: one folder a source, one file a statement, named by its number in the source."""

from attsvm.primitives import data_in_words as data_in_words
