"""The claims of a paper on softmax, a module a statement."""
