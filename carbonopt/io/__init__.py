"""Files in and out: carbon signals, job traces, instances and solutions."""
