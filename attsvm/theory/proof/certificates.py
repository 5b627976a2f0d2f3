"""Certificates for inequalities: exact sums of products that add up to 0.

To show a goal from premises, its denial joins the premises. A certificate is a sum

    c_1 P_1 + ... + c_m P_m + q_1 E_1 + ... + q_r E_r = 0,    c_i > 0.

Each P_i is a product of terms that are known to be >= 0 or > 0. Each E_i is a product of
terms one of which is known to be 0. Some P_i has factors > 0 only. At values for which all
premises and the denial hold, the sum would be above 0. So no such values exist: whenever the
premises hold, the goal holds (Krivine and Stengle's theorem says when certificates exist; nothing
here relies on it). The polynomials are added exactly. The search for a certificate is elsewhere,
and may be wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from attsvm.theory.proof.facts import Proposition
from attsvm.theory.proof.terms import Term, as_term


@dataclass(frozen=True, slots=True)
class Summand:
    """A rational number times a product of the propositions' terms, given by their places."""

    factor: fmpq
    places: tuple[int, ...]


def product(propositions: Sequence[Proposition], places: Sequence[int]) -> Term:
    """Return the product of the terms at these places; 1 if there is none."""
    whole = as_term(1)
    for place in places:
        whole = whole * propositions[place].term
    return whole


def refutes(propositions: Sequence[Proposition], certificate: Sequence[Summand]) -> bool:
    """Return whether the certificate shows that the propositions never hold together.

    "In the end" is not read here: the rule `decide` says at which steps the propositions hold.
    """
    whole, positive = as_term(0), False
    for summand in certificate:
        relations = [propositions[place].relation for place in summand.places]
        # A product with a factor 0 is 0, so that its coefficient may have any sign. All other
        # products are >= 0, and a negative coefficient would make them useless.
        if "==" not in relations:
            if not summand.factor > 0:
                return False
            # a product of terms > 0 is > 0; so is the empty product, the number 1
            positive = positive or ">=" not in relations
        whole = whole + product(propositions, summand.places) * summand.factor
    # If all propositions held, the sum would be > 0. As a polynomial it is 0: a contradiction.
    # Without a positive summand the sum 0 = 0 would be no contradiction.
    return positive and whole == as_term(0)
