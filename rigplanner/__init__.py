"""RigPlanner: plan a deep-learning rig and know, before buying, what it becomes."""

__version__ = "1.0.0"
