"""Declaring a statement: its variables, its formula, its readings. Import from `attsvm.theory`."""
