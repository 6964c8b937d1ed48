"""A cluster as a fit sees it: work goes out with a limit on attempts and on time.

Dask does scheduling, placement and recovery: results that a lost worker held are computed again from where
they came. Only `compute`, `map`, `gather`, `run`, `sync` and `cancel` of a client are used, and every wait
ends.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

import distributed

from .._data.installed import version
from .._data.options import refuse_if
from ..exceptions import ClusterError, ParameterError

_NUMBERS = count()
CANCELLING = 30.0
"""Seconds to wait for a scheduler that is to forget what it was asked for."""
TIMEOUTS = (TimeoutError, distributed.TimeoutError)


def current() -> distributed.Client:
    """The client of this process."""
    try:
        return distributed.default_client()
    except ValueError:
        raise ParameterError(
            "a Dask DataFrame is fitted on a cluster, but there is no client. Start one first: "
            "dask.distributed.Client()"
        ) from None


class Cluster:
    """A client with the limits of a fit."""

    def __init__(self, client: distributed.Client, *, timeout: float, retries: int) -> None:
        if not isinstance(client, distributed.Client):
            raise ParameterError(f"client: expected a dask.distributed.Client, got {type(client).__name__}")
        refuse_if(
            client.asynchronous,
            "client: an asynchronous one cannot be waited for; pass Client(...) without asynchronous",
        )
        self._client = client
        self._timeout = timeout
        self._retries = retries

    def check(self) -> None:
        """Workers that are there, with this version of the package."""
        client = self._client
        self._wait("the first worker", lambda: client.wait_for_workers(1, timeout=self._timeout))
        # A worker that is about to leave does not answer, which is no fault of the others.
        versions = self._ask("the versions of the workers", lambda: client.run(version, on_error="return"))
        for worker, theirs in versions.items():
            if isinstance(theirs, (ImportError, AttributeError)):
                raise ClusterError(
                    f"{worker} cannot import uncertain ({theirs}); install it on every machine"
                )
            if isinstance(theirs, str) and theirs != version():
                raise ClusterError(
                    f"{worker} has version {theirs} of uncertain, but this process has {version()}; "
                    "install the same version everywhere"
                )

    def compute(self, delayed: Sequence[Any]) -> list[distributed.Future]:
        """Futures of lazy objects."""
        return list(self._client.compute(list(delayed), retries=self._retries))

    def map(self, work: Callable[..., object], *lists: Sequence[Any], **same: object) -> list[Any]:
        """Futures of `work`, one for each element; with a new key for every call, so that nothing is
        reused."""
        name = f"uncertain-{work.__name__}-{next(_NUMBERS)}-{time.time_ns():x}"
        keys = [f"{name}-{k}" for k in range(len(lists[0]))]
        return list(self._client.map(work, *lists, key=keys, pure=False, **same))

    def results(self, futures: Sequence[distributed.Future], what: str) -> list[Any]:
        """The results, in order; work that fails is not waited for."""
        # One wait for everything, also for what must be computed again while it is fetched.
        gather = self._client.gather
        return list(self._ask(what, lambda: gather(list(futures), asynchronous=True), futures))

    def cancel(self, futures: Sequence[distributed.Future]) -> None:
        """Stop what runs, as far as that can be."""
        client = self._client
        if futures and client.status == "running":
            with suppress(*TIMEOUTS, distributed.comm.CommClosedError):
                client.sync(
                    lambda: client.cancel(list(futures), asynchronous=True, force=True),
                    callback_timeout=CANCELLING,
                )

    def _ask(self, what: str, ask: Callable[[], Any], futures: Sequence[Any] = ()) -> Any:
        """Result of `ask` on the loop of the client, unless it takes too long."""
        return self._wait(what, lambda: self._client.sync(ask, callback_timeout=self._timeout), futures)

    def _wait(self, what: str, wait: Callable[[], Any], futures: Sequence[Any] = ()) -> Any:
        try:
            return wait()
        except KeyboardInterrupt:
            self.cancel(futures)
            raise
        except TIMEOUTS:
            late = [future for future in futures if future.status == "pending"]
            self.cancel(futures)
            behind = f"; {len(late)} of {len(futures)} tasks were not done" if futures else ""
            raise ClusterError(
                f"{what}: no answer in {self._timeout:g} s{behind}. Check that workers are running, or pass "
                "a larger timeout="
            ) from None
        except distributed.scheduler.KilledWorker as error:
            self.cancel(futures)
            raise ClusterError(
                f"{what}: workers died again and again over the same rows ({error}), perhaps for want of "
                "memory. Make the partitions smaller, or pass a smaller group_bytes="
            ) from None
        except (distributed.client.FutureCancelledError, distributed.comm.CommClosedError) as error:
            raise ClusterError(f"{what}: the cluster is gone, or the work was cancelled ({error})") from None
