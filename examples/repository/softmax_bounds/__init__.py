"""The claims of a paper on softmax; each module has one statement."""
