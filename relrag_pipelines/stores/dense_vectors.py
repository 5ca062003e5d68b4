"""Dense vectors as NumPy arrays."""

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
"""one row a text, or a single vector"""
