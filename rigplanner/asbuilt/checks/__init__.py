"""Line by line: what was promised beside what is seen, one module per subject."""
