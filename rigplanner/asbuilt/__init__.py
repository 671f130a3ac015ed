"""Did it become that? What a delivered machine shows of itself, beside what the plan promised."""
