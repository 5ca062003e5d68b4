"""What a call costs in processor time, and how that grows with its input, on a machine that may be busy."""

import gc
import math
import time
from collections.abc import Callable
from typing import TypeVar

Input = TypeVar("Input")

LINEAR = 1.5
"""an exponent below this is linear work: between the 1 of linear and the 2 of quadratic work"""
_TIMES = 4
_TURNS = 5
_NOTHING = 0.02
"""seconds: what takes less at full size does not grow"""


def seconds(call: Callable[[], object]) -> float:
    """Processor time of this thread for one call, without the collection of garbage that others left."""
    gc.collect()
    gc.disable()
    try:
        begun = time.thread_time()
        call()
        return time.thread_time() - begun
    finally:
        gc.enable()


def exponent(call: Callable[[Input], object], make: Callable[[int], Input], size: int) -> float:
    """How the time of `call(make(size))` grows with size: 1 is linear, 2 quadratic.

    A quarter of the size and all of it are measured in turn, five times at most: the least time of each counts, since
    what else runs on the machine only adds.
    """
    inputs = [make(size // _TIMES), make(size)]
    least = [math.inf, math.inf]
    found = math.inf
    for _ in range(_TURNS):
        for place, one in enumerate(inputs):
            least[place] = min(least[place], seconds(lambda one=one: call(one)))  # type: ignore[misc]
        if least[1] < _NOTHING:
            return 0.0
        found = math.log(least[1] / least[0], _TIMES)
        if found < LINEAR:
            break
    return found
