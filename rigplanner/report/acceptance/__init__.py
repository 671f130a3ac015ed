"""What leaves the house of an acceptance: the protocol and the burn-in plan."""
