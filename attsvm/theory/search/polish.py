"""Polishing: shrink a counterexample until it is minimal, and worsen it, while there is time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attsvm.theory.run.confirm import Refuted
from attsvm.theory.search.dispatch import Dispatch, OverError

if TYPE_CHECKING:
    from collections.abc import Callable

    from attsvm.theory.search.account import Hunt
    from attsvm.theory.search.turn import Gain

_BUDGET = 240
"""Instances of a turn that shrinks or worsens a find, for a claim of cost 1."""

_WORSE = 8
"""Maximum number of turns that worsen a find."""


def polish(
    dispatch: Dispatch, account: Hunt, refuted: Refuted, tell: Callable[[Gain], None]
) -> None:
    """Shrink a counterexample until it is minimal, worsen it, and record both in the account.

    Args:
        dispatch: submits the turns.
        account: the account of the hunt.
        refuted: the counterexample.
        tell: called with the result of each turn.
    """
    now = {"shrink": refuted, "worsen": refuted}
    resume = {"shrink": (0, 0), "worsen": (0, 0)}
    ahead = {"shrink": None, "worsen": _WORSE}  # turns left; None for no limit
    try:
        while any(left is None or left > 0 for left in ahead.values()):  # either may fail
            jobs = [
                (
                    name,
                    dispatch.submit(name, _BUDGET, counterexample=now[name], resume=resume[name]),
                )
                for name, left in ahead.items()
                if left is None or left > 0
            ]
            for name, job in jobs:
                gain = dispatch.gain(job, needed=account.examples == 0)
                if gain.withdrawn:  # a claim that answers at random has no counterexample
                    account.smallest = account.worst = None
                    account.minimal, account.error = False, gain.error
                    return
                if gain.error is not None or gain.found is None:
                    account.error = account.error or gain.error
                    ahead[name] = 0
                    continue
                better = Refuted.read(gain.found)
                over = gain.minimal or (name == "worsen" and better == now[name])
                now[name], resume[name] = better, (gain.resume[0], gain.resume[1])
                left = ahead[name]
                ahead[name] = 0 if over else left and left - 1
                if name == "shrink":
                    account.smallest, account.minimal = better, gain.minimal
                else:
                    account.worst = better
                tell(gain)
    except OverError:
        return
