"""How is it said? Findings, machines, memory, speed and faults in words, one module per subject."""
