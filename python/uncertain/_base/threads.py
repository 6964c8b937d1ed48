"""The package's thread pools under threadpoolctl: ``threadpool_limits(1)`` limits fits of this library too.

threadpoolctl finds a library by the name of its file and calls C symbols in it; the extension exports
``uncertain_get_num_threads`` and ``uncertain_set_num_threads``. The limit holds for the whole process; an
explicit ``n_jobs`` wins over it, as OpenMP's ``num_threads`` clause does. joblib limits its worker processes
through ``OMP_NUM_THREADS``, which the core reads by itself.
"""

from __future__ import annotations

import threadpoolctl


class UncertainController(threadpoolctl.LibController):
    """Calls of threadpoolctl to see and to limit the number of threads."""

    user_api = "uncertain"
    internal_api = "uncertain"
    filename_prefixes = ("_uncertain",)
    check_symbols = ("uncertain_get_num_threads", "uncertain_set_num_threads")

    def get_num_threads(self) -> int:
        """The number of threads of a call with ``n_jobs=None``."""
        return int(self.dynlib.uncertain_get_num_threads())

    def set_num_threads(self, num_threads: int) -> None:
        """Limit later calls to `num_threads`."""
        self.dynlib.uncertain_set_num_threads(int(num_threads))

    def get_version(self) -> str | None:
        """No version: the library and its controller are always the same release."""
        return None


def register() -> None:
    """Tell threadpoolctl about us, once per process."""
    controllers: list[type[threadpoolctl.LibController]] = threadpoolctl._ALL_CONTROLLERS
    if not any(one.internal_api == UncertainController.internal_api for one in controllers):
        threadpoolctl.register(UncertainController)


register()
