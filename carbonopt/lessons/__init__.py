"""The exercises of the course, and the grader that accepts or rejects answers."""
