"""The counting of bytes: tensors without data on a tape, the operators of eager PyTorch, and the peak they leave."""
