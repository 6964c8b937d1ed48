"""Kernel support vector machines for rows that are Gaussians."""

from ._svc import ProbabilisticKernelSVC
from ._svr import ProbabilisticKernelSVR

__all__ = ["ProbabilisticKernelSVC", "ProbabilisticKernelSVR"]
