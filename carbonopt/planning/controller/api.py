"""The API server of Kubernetes, through the official client: an extra, imported when it is used.

A merge patch carries the ``resourceVersion`` that was read. So the server refuses it (409) if anything has changed,
and a patch that is sent twice, because its answer was lost, is applied once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

from carbonopt.core.errors import CarbonoptError, UnsupportedError, one_line
from carbonopt.planning.controller.clock import Clock
from carbonopt.planning.controller.targets import Object, Target

TRIES = 6
BUSY = (429, 500, 502, 503, 504)
"""Answers after which the same may be asked again."""
LONGEST_WAIT_SECONDS = 60.0
PAGE = 500
"""Objects of one answer."""


class UnreachableError(CarbonoptError):
    """The scheduler does not answer, or not as asked."""


class ConflictError(CarbonoptError):
    """The object has changed since it was read."""


class Api:
    """Objects of one kind.

    Parameters
    ----------
    target
        The kind.
    clock
        By which is waited between tries.
    kubeconfig, context
        As kubectl takes them; None for the usual ones, or the service account of the pod.

    Raises
    ------
    UnsupportedError
        If the client is not installed, or there is no configuration.
    """

    def __init__(self, target: Target, clock: Clock, kubeconfig: str | None = None, context: str | None = None) -> None:
        try:
            client, config = import_module("kubernetes.client"), import_module("kubernetes.config")
        except ImportError:
            raise UnsupportedError("Kubernetes needs its client: install carbonopt[controller]") from None
        settings = client.Configuration()
        try:
            config.load_config(config_file=kubeconfig, context=context, client_configuration=settings)
        except (config.ConfigException, OSError) as error:
            raise UnsupportedError(f"no cluster to talk to: {one_line(str(error))}") from None
        settings.retries = False  # it is asked again here, as the server says when
        self._objects = client.CustomObjectsApi(client.ApiClient(settings))
        self._failure: type[Exception] = client.exceptions.ApiException
        self._lost: type[Exception] = import_module("urllib3.exceptions").HTTPError
        self._kind = (target.group, target.version)
        self._plural = target.plural
        self._clock = clock

    def list(self) -> list[Object]:
        """Return all objects of the cluster that one may see, page by page.

        Raises
        ------
        UnreachableError
            If the server does not tell them.
        """
        found: list[Object] = []
        token: str | None = None
        while True:
            more = {} if token is None else {"_continue": token}
            page = self._ask(
                lambda more=more: self._objects.list_cluster_custom_object(  # type: ignore[misc]
                    *self._kind, self._plural, limit=PAGE, _request_timeout=30, **more
                )
            )
            found += page.get("items", [])
            token = (page.get("metadata") or {}).get("continue")
            if not token:
                return found

    def get(self, job: str) -> Object | None:
        """Return the object as it is now; None if it is gone."""
        namespace, name = job.split("/")
        call = self._objects.get_namespaced_custom_object
        where = (*self._kind, namespace, self._plural, name)
        found: Object | None = self._ask(lambda: call(*where, _request_timeout=30), missing=None)
        return found

    def patch(self, one: Object, change: Object) -> Object | None:
        """Change an object if it still is as it was read; return what it is then, None if it is gone.

        Raises
        ------
        ConflictError
            If it is not.
        UnreachableError
            If the server refuses, or does not answer: the change may have been made.
        """
        meta = one["metadata"]
        metadata = {**change.get("metadata", {}), "resourceVersion": meta["resourceVersion"]}
        body = {**change, "metadata": metadata}
        call = self._objects.patch_namespaced_custom_object
        where = (*self._kind, meta.get("namespace", "default"), self._plural, meta["name"], body)
        options = {"_content_type": "application/merge-patch+json", "_request_timeout": 30}
        found: Object | None = self._ask(lambda: call(*where, **options), missing=None)
        return found

    def _ask(self, call: Callable[[], Any], missing: Any = UnreachableError) -> Any:
        """Ask until there is an answer, `TRIES` times at most; `missing` is what 404 stands for."""
        for tried in range(1, TRIES + 1):
            wait = min(LONGEST_WAIT_SECONDS, 2.0**tried / 2)
            try:
                return call()
            except self._failure as error:
                status = getattr(error, "status", 0) or 0
                if status == 404 and missing is None:
                    return None
                if status == 409:
                    raise ConflictError(_reason(error)) from None
                if status not in BUSY or tried == TRIES:
                    raise UnreachableError(f"the API server answers {status}: {_reason(error)}") from None
                wait = _asked_wait(error, wait)
            except (self._lost, OSError) as error:
                if tried == TRIES:
                    words = f"the API server does not answer ({TRIES} tries): {one_line(str(error))[:200]}"
                    raise UnreachableError(words) from None
            self._clock.sleep(wait)
        raise AssertionError  # the last try returns or raises


def _asked_wait(error: Any, wait: float) -> float:
    """Return the seconds that the server asks to wait for, or `wait`."""
    text = str((getattr(error, "headers", None) or {}).get("Retry-After", ""))
    return min(LONGEST_WAIT_SECONDS, float(text)) if text.isdecimal() else wait


def _reason(error: Any) -> str:
    """Return what the server says in words."""
    try:
        words = json.loads(error.body)["message"]
    except (TypeError, ValueError, KeyError):
        words = getattr(error, "reason", None) or "no reason given"
    return one_line(str(words))[:300]
