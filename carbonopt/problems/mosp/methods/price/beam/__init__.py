"""Dynamic program over slots for all jobs, or a part of them: exact where the states are few, else a beam search."""
