"""What does the machine look like? Pictures of plain shapes, without a toolkit."""
