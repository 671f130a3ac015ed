"""How right are the predictions? The tables of errors, and the page `docs/accuracy.md`."""
