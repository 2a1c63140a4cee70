"""What every problem shares: time, carbon signal, jobs, Instance, Solution, Status, errors."""
