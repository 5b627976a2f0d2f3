"""Shapes in annotations are checked in this suite, and every public function has them."""

import importlib
import inspect
import pkgutil

import jaxtyping
import numpy as np
import pytest

import attsvm
import attsvm.descent
import attsvm.exact
import attsvm.paths
import attsvm.plots
import attsvm.svm
from attsvm.attention import (
    attention_output,
    kron_block,
    linear_attention,
    log_softmax,
    logits_of_kq,
    logits_of_p,
    logits_of_w,
    softmax,
    vec,
)
from attsvm.data import AttentionData
from attsvm.descent import descend_p, follow_w
from attsvm.lipschitz import entry_gradient
from attsvm.losses import LOG_LOSS, logistic
from attsvm.risk import covariance, gradient_p, gradient_w, normalised_gradient
from attsvm.svm import att_svm_programme
from attsvm.svm.frobenius import grade
from attsvm.tokens import token_scores

DATA = AttentionData.of(np.ones((2, 3, 4)), np.ones((2, 4)), scores=np.eye(2, 3))
X, Z = DATA.X, DATA.Z


def zeros(*shape):
    return np.zeros(shape)


WRONG = {
    "softmax: mask of another length": lambda: softmax(zeros(2, 3), np.ones((2, 2), dtype=bool)),
    "softmax: integers": lambda: softmax(np.zeros((2, 3), dtype=int)),
    "softmax: a list": lambda: softmax([0.0, 1.0]),
    "log_softmax: mask of floats": lambda: log_softmax(zeros(3), np.ones(3)),
    "linear_attention": lambda: linear_attention(zeros(2, 3), zeros(2, 4)),
    "attention_output": lambda: attention_output(zeros(2, 3), zeros(2, 4, 5)),
    "logits_of_p: prompt of another dimension": lambda: logits_of_p(X, zeros(3)),
    "logits_of_p: tokens of one input": lambda: logits_of_p(X[0], zeros(4)),
    "logits_of_w: weights not square": lambda: logits_of_w(X, Z, zeros(4, 3)),
    "logits_of_w: queries of another number": lambda: logits_of_w(X, zeros(3, 4), zeros(4, 4)),
    "logits_of_kq": lambda: logits_of_kq(X, Z, zeros(4, 2), zeros(4, 3)),
    "kron_block": lambda: kron_block(zeros(3), zeros(2, 2), 0),
    "vec": lambda: vec(zeros(2, 2, 2)),
    "token_scores": lambda: token_scores(X, zeros(3), zeros(4)),
    "covariance": lambda: covariance(zeros(3), zeros(4)),
    "gradient_w": lambda: gradient_w(DATA, zeros(4, 3), LOG_LOSS),
    "gradient_w: no data": lambda: gradient_w(X, zeros(4, 4), LOG_LOSS),
    "gradient_p": lambda: gradient_p(DATA, zeros(4, 1), LOG_LOSS),
    "normalised_gradient": lambda: normalised_gradient(X, Z, zeros(2, 4), zeros(4, 4), LOG_LOSS),
    "follow_w": lambda: follow_w(DATA, zeros(4), LOG_LOSS, [1.0]),
    "descend_p: step of text": lambda: descend_p([DATA], zeros(4), LOG_LOSS, step="1", steps=1),
    "entry_gradient": lambda: entry_gradient(zeros(3, 2), zeros(3), zeros(3), 1.0),
    "logistic: a number": lambda: logistic(0.5),
    "grade": lambda: grade(att_svm_programme(DATA), zeros(2, 2), solved=True),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=list(WRONG))
def test_wrong_shapes_and_types_are_caught_by_the_hook(call):
    with pytest.raises(jaxtyping.TypeCheckError):
        call()


def test_right_shapes_pass():
    assert logits_of_p(X, zeros(4)).shape == (2, 3)
    assert logits_of_w(X, Z, zeros(4, 4)).shape == (2, 3)
    assert gradient_w(DATA, zeros(4, 4), LOG_LOSS).shape == (4, 4)
    assert softmax(zeros(2, 3), np.ones((2, 3), dtype=bool)).shape == (2, 3)


MATHEMATICS = sorted(
    ["attsvm.data", "attsvm.errors"]
    + [
        f"attsvm.{name}"
        for name in (
            "attention",
            "descent",
            "heads",
            "language",
            "lipschitz",
            "losses",
            "paths",
            "plots",
            "reproduce",
            "risk",
            "tokens",
        )
    ]
    + [
        module.name
        for package in (attsvm.svm, attsvm.exact, attsvm.descent, attsvm.paths, attsvm.plots)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
)


def public(name):
    """Functions and classes of a module's __all__ that it defines itself, with their methods."""
    module = importlib.import_module(name)
    for word in module.__all__:
        thing = getattr(module, word)
        function = inspect.isclass(thing) or inspect.isfunction(thing)
        if not function or thing.__module__ != name:
            continue
        yield f"{name}.{word}", thing
        if inspect.isclass(thing):
            for attribute, member in vars(thing).items():
                function = getattr(member, "fget", None) or getattr(member, "__func__", member)
                if not attribute.startswith("_") and inspect.isfunction(function):
                    yield f"{name}.{word}.{attribute}", function


def test_every_mathematics_module_is_looked_at():
    names = {module.name for module in pkgutil.iter_modules(attsvm.__path__, "attsvm.")}
    elsewhere = {"attsvm.cli", "attsvm.theory", "attsvm.svm", "attsvm.exact", "attsvm.kernels"}
    private = {name for name in names if "._" in name}
    assert names - elsewhere - private == {name for name in MATHEMATICS if name.count(".") == 1}


@pytest.mark.parametrize("name", MATHEMATICS)
def test_everything_public_exists_and_has_a_docstring(name):
    module = importlib.import_module(name)
    assert module.__doc__
    assert module.__all__ == sorted(module.__all__, key=_by_kind)
    for word, thing in public(name):
        assert inspect.getdoc(thing), word


def _by_kind(word):
    """Constants, then classes, then functions, each by name."""
    kind = 0 if word.isupper() else 1 if word[0].isupper() else 2
    return kind, word


@pytest.mark.parametrize("name", MATHEMATICS)
def test_every_public_function_is_annotated_throughout(name):
    for word, thing in public(name):
        if inspect.isclass(thing):
            continue
        signature = inspect.signature(thing)
        assert signature.return_annotation is not inspect.Signature.empty, word
        for parameter in signature.parameters.values():
            named = parameter.name in ("self", "cls")
            assert named or parameter.annotation is not inspect.Parameter.empty, word
