"""On the similarity between attention and SVM on the token separation and selection behavior."""

SOURCE = (
    "On the similarity between attention and SVM on the token separation and selection behavior"
)
