"""Algorithms that know no problem: greedy over a polymatroid, its flow oracle, compiled loops."""
