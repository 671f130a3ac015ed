"""What is done to RigPlanner that should not be done to a program: bad files, kills, bad disks and
servers, random users. Seeded: the same seed makes the same deeds."""
