"""Words that describe tokens and queries, for the coverage of a search."""

from attsvm.data import AttentionData
from attsvm.errors import AttsvmError
from attsvm.theory.run.coverage import words
from attsvm.tokens import optimal_tokens


@words.register
def data_in_words(data: AttentionData) -> dict[str, str]:
    """Describe sizes, ties of optimal tokens, and the number of support tokens of each input."""
    sizes = {"sizes": f"n={data.n} T={data.T} d={data.d}"}
    if not optimal_tokens(data).unique:
        return {**sizes, "optimal tokens": "tied", "support tokens": "no Att-SVM: tied"}
    return {**sizes, "optimal tokens": "unique", "support tokens": _support(data)}


def _support(data: AttentionData) -> str:
    from attsvm.svm import att_svm  # which listing claims does not need

    try:
        answer = att_svm(data)
    except AttsvmError:
        return "no answer"
    if answer.status != "solved":
        return "unseparable"
    return "+".join(map(str, sorted(len(tokens) for tokens in answer.support)))
