"""What fits: all candidates of a kind tried in one rig."""
