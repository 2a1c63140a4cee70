"""What must not harm: hostile files, names, faults and claims, in modules by kind."""
