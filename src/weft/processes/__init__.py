"""Child processes and other programs: how they are started."""
