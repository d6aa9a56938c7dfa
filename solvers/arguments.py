"""Checks of what a caller hands in, shared by the solvers: each raises ValueError, which says what was expected."""

import numpy as np


def toes(given, frame_rate, least=1):
    """Toes as an array (frames, legs, 3) of finite numbers, ``least`` frames and legs at least, at a positive
    ``frame_rate`` (Hz)."""
    points = np.asarray(given, float)
    if points.ndim != 3 or points.shape[-1] != 3 or min(points.shape) < least:
        raise ValueError(f"toes: expected shape (frames, legs, 3), each at least {least}, got {points.shape}")
    if not 0.0 < frame_rate < np.inf:
        raise ValueError(f"frame_rate: expected a positive number of frames per second, got {frame_rate}")
    return finite("toes", points, points.shape)


def finite(name, given, shape):
    """An array of ``shape`` of finite numbers."""
    values = np.asarray(given, float)
    if values.shape != shape:
        raise ValueError(f"expected {name} of shape {shape}, got {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name}: expected finite numbers")
    return values


def labels(given, shape):
    """Labels as an array of ``shape`` of bool."""
    values = np.asarray(given, bool)
    if values.shape != shape:
        raise ValueError(f"expected labels of shape {shape}, got {values.shape}")
    return values
