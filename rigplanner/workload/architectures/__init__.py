"""The networks on the tape, one module per family, as their libraries write them."""
