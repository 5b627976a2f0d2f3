"""The one array type that shape annotations are written over."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]
else:
    Array = np.ndarray
