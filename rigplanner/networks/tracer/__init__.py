"""What does a step keep alive? Tensors without data on a tape, the operators of eager PyTorch, and
the peak they leave."""
