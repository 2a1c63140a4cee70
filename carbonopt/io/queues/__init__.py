"""Readers of queues: jobs that wait or run now, as schedulers print them."""
