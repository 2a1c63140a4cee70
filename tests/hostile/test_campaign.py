"""The fixed part of the campaign: 500 attempts, and that a failure is kept and replayed."""

import json

import pytest

from hostile import campaign
from hostile.found import Found

FIXED = {"answers": 150, "forgeries": 150, "files": 170, "names": 28, "faults": 2}
BATCH = 25
CASES = [(kind, first) for kind, count in FIXED.items() for first in range(0, count, BATCH)]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # what matters is looked at
@pytest.mark.parametrize(("kind", "first"), CASES)
def test_nothing_wrong_leaves(kind, first):
    for seed in range(first, min(first + BATCH, FIXED[kind])):
        found = campaign.attempt(kind, seed)
        assert found is None, f"{kind} {seed}: {found.words}"


def test_five_hundred_attempts_are_made():
    assert sum(FIXED.values()) == 500


def test_what_is_found_is_kept_and_replayed(tmp_path, monkeypatch):
    def wrong(rng):
        raise Found(f"a wrong number, {rng.randrange(100)}", instance={"a": 1})

    monkeypatch.setitem(campaign.KINDS, "answers", wrong)
    found = campaign.attempt("answers", 7)
    assert found is not None
    path = campaign.keep(found, "answers", 7, tmp_path)
    assert json.loads((tmp_path / "answers-7.instance.json").read_text()) == {"a": 1}
    again = campaign.replay(path)
    assert again is not None
    assert again.words == found.words
