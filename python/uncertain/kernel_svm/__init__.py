"""Kernel support vector machines for rows that are Gaussians."""

from uncertain.kernel_svm._svc import ProbabilisticKernelSVC
from uncertain.kernel_svm._svr import ProbabilisticKernelSVR

__all__ = ["ProbabilisticKernelSVC", "ProbabilisticKernelSVR"]
