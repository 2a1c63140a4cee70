"""The offline counterpart by prices of GPU time: its bound, and schedules that the prices lead to."""
