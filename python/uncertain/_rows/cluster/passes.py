"""A cluster as a fit sees it: work goes out with a limit on attempts and on time.

Dask does scheduling, placement and recovery: results that a lost worker held are computed again from where
they came. Only `compute`, `map`, `gather`, `run`, `sync` and `cancel` of a client are used, and every wait
ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from itertools import count
from typing import TypeVar

import distributed
import numpy as np

from ..._base.progress import say
from ..._data.installed import version
from ..._data.typing import Floats
from ...exceptions import ClusterError, ParameterError
from .work import TimedSums, sums

_NUMBERS = count()
T = TypeVar("T")


def current() -> distributed.Client:
    """The client of this process."""
    try:
        return distributed.default_client()
    except ValueError:
        raise ParameterError(
            "a Dask DataFrame is fitted on a cluster, but there is no client: start one with "
            "dask.distributed.Client(), for this machine or with the address of a scheduler"
        ) from None


CANCELLING = 30.0
"""Seconds to wait for a scheduler that is to forget what it was asked for."""


async def _fetched(client: distributed.Client, futures: Sequence[distributed.Future]) -> list[object]:
    return list(await client.gather(list(futures), asynchronous=True))


async def _versions(client: distributed.Client) -> dict[str, object]:
    # A worker that is about to leave does not answer, which is no fault of the others.
    return dict(await client.run(version, on_error="return"))


async def _cancelled(client: distributed.Client, futures: Sequence[distributed.Future]) -> None:
    await client.cancel(list(futures), asynchronous=True, force=True)


class Cluster:
    """A client with the limits of a fit."""

    def __init__(self, client: distributed.Client, *, timeout: float, retries: int) -> None:
        if not isinstance(client, distributed.Client):
            raise ParameterError(f"client: expected a dask.distributed.Client, got {type(client).__name__}")
        if client.asynchronous:
            raise ParameterError(
                "client: an asynchronous one cannot be waited for; pass Client(...) without asynchronous"
            )
        self._client = client
        self._timeout = timeout
        self._retries = retries

    def check(self) -> None:
        """Workers that are there, with this version of the package."""
        self._waiting("the first worker", lambda: self._client.wait_for_workers(1, timeout=self._timeout))
        versions = self._waiting("the versions of the workers", lambda: self._within(_versions))
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

    def compute(self, delayed: Sequence[distributed.Future]) -> list[distributed.Future]:
        """Futures of lazy objects."""
        return list(self._client.compute(list(delayed), retries=self._retries))

    def map(
        self, work: Callable[..., object], *lists: Sequence[distributed.Future], **same: object
    ) -> list[distributed.Future]:
        """Futures of `work`, one for each element; a key of its own for every call, so that nothing is
        reused."""
        name = f"uncertain-{work.__name__}-{next(_NUMBERS)}-{time.time_ns():x}"
        keys = [f"{name}-{k}" for k in range(len(lists[0]))]
        return list(self._client.map(work, *lists, key=keys, pure=False, **same))

    def results(self, futures: Sequence[distributed.Future], what: str, kind: type[T]) -> list[T]:
        """The results, in order, all of one `kind`; work that fails is not waited for."""
        # One wait for everything, also for what must be computed again while it is fetched.
        answers = self._waiting(what, lambda: self._within(_fetched, futures), futures)
        results: list[T] = []
        for k, result in enumerate(answers):
            if not isinstance(result, kind):
                raise ClusterError(
                    f"{what}: task {k} of {len(answers)} was answered with {type(result).__name__} instead "
                    f"of {kind.__name__}. Something on the cluster replaces tasks or their results: look at "
                    "its plugins, or fit on another one"
                )
            results.append(result)
        return results

    def _within(self, ask: Callable[..., Coroutine[object, object, T]], *args: object) -> T:
        """What `ask` finds on the loop of the client, unless it takes too long."""
        answer: T = self._client.sync(ask, self._client, *args, callback_timeout=self._timeout)
        return answer

    def _waiting(
        self,
        what: str,
        wait: Callable[[], T],
        futures: Sequence[distributed.Future] = (),
    ) -> T:
        try:
            return wait()
        except KeyboardInterrupt:
            self.cancel(futures)
            raise
        except (TimeoutError, distributed.TimeoutError):
            late = [future for future in futures if future.status == "pending"]
            self.cancel(futures)
            behind = f"; {len(late)} of {len(futures)} tasks were not done" if futures else ""
            raise ClusterError(
                f"{what}: no answer in {self._timeout:g} s{behind}. Are there workers? A fit takes timeout= "
                "for longer passes"
            ) from None
        except distributed.scheduler.KilledWorker as error:
            self.cancel(futures)
            raise ClusterError(
                f"{what}: workers died again and again over the same rows ({error}). Such rows may not fit "
                "into the memory of a worker: make the partitions smaller, or group_bytes="
            ) from None
        except (distributed.client.FutureCancelledError, distributed.comm.CommClosedError) as error:
            raise ClusterError(
                f"{what}: the cluster has gone, or the work was cancelled there ({error})"
            ) from None

    def cancel(self, futures: Sequence[distributed.Future]) -> None:
        """Stop what runs, as far as that can be."""
        if futures and self._client.status == "running":
            with suppress(TimeoutError, distributed.TimeoutError, distributed.comm.CommClosedError):
                self._client.sync(_cancelled, self._client, futures, callback_timeout=CANCELLING)


class Passes:
    """Groups of rows on the workers, which answer requests one pass after the other.

    Every answer carries the number of rows and a checksum of them: a group that was lost and read again must
    be the same as before.
    """

    def __init__(
        self, cluster: Cluster, groups: Sequence[distributed.Future], *, n_jobs: int | None, verbose: bool
    ) -> None:
        self._cluster = cluster
        self.groups = list(groups)
        self._n_jobs = n_jobs
        self._verbose = verbose
        self._known: list[tuple[float, float]] | None = None
        self.count = 0
        self.n_bytes = 0
        self.seconds = 0.0

    def __call__(self, requests: bytes) -> list[Floats]:
        """The answers of all groups, in their order."""
        start = time.perf_counter()
        futures = self._cluster.map(sums, self.groups, requests=requests, n_jobs=self._n_jobs)
        timed = self._cluster.results(futures, f"pass {self.count + 1} over the rows", TimedSums)
        answers = [np.require(one.sums, requirements=["C", "A"]) for one in timed]
        self._compare([(float(answer[1]), float(answer[2])) for answer in answers])
        self.count += 1
        self.n_bytes += len(futures) * len(requests) + sum(answer.nbytes for answer in answers)
        self.seconds += time.perf_counter() - start
        if self._verbose:
            slowest = max(timed, key=lambda one: one.seconds)
            say(
                f"[dask] pass {self.count}: {time.perf_counter() - start:.3f} s, {self.n_bytes / 1e6:.3f} "
                f"MB so far, slowest {slowest.worker} ({slowest.seconds:.3f} s)"
            )
        return answers

    def _compare(self, found: list[tuple[float, float]]) -> None:
        if self._known is None:
            self._known = found
        for group, (before, now) in enumerate(zip(self._known, found, strict=True)):
            if before != now:
                raise ClusterError(
                    f"group {group} of the rows had {before[0]:.0f} rows and is another one now, with "
                    f"{now[0]:.0f}: it was lost with a worker, and its source gave other rows (or the same "
                    "in another order) the second time. Write the table to files first, or persist it, and "
                    "fit that"
                )

    def behind(self, work: Callable[..., object], **same: object) -> Passes:
        """Passes over what `work` makes of every group."""
        groups = self._cluster.map(work, self.groups, **same)
        after = Passes(self._cluster, groups, n_jobs=self._n_jobs, verbose=self._verbose)
        after.count, after.n_bytes, after.seconds = self.count, self.n_bytes, self.seconds
        return after
