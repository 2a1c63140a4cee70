"""Caspian's Algorithm 1 and its baselines: every period, queued and running jobs are placed anew."""
