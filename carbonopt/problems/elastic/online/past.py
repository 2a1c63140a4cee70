"""What a policy is told before the first slot: a past, and what was learned from it."""

from __future__ import annotations

import os

from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.online.carbonflex import CarbonFlex
from carbonopt.problems.elastic.online.hourly import HourlyPolicy
from carbonopt.problems.elastic.online.knowledge import KnowledgeBase
from carbonopt.problems.elastic.online.learn import learned
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics


def inform(
    policy: HourlyPolicy, past: ElasticInstance | None = None, knowledge: str | os.PathLike[str] | None = None
) -> None:
    """Give a policy the statistics of a past, and CarbonFlex what was learned before.

    Parameters
    ----------
    policy
        New; it is changed.
    past
        An instance that ended before. CarbonFlex learns from it where `knowledge` is None.
    knowledge
        A file of `carbonopt learn`; other policies than CarbonFlex do not look at it.

    Raises
    ------
    UnsupportedError
        If `policy` is none of this problem's.
    InputError
        If `knowledge` is no file of a knowledge base.
    """
    if not isinstance(policy, HourlyPolicy):
        raise UnsupportedError(f"policy {policy.name}: only elastic's own policies can be told of a past")
    if past is not None:
        policy.statistics = QueueStatistics.of(past)
    if isinstance(policy, CarbonFlex):
        if knowledge is not None:
            policy.know(KnowledgeBase.read(knowledge))
        elif past is not None:
            policy.know(learned(past))
