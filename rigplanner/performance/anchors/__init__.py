"""What was measured near this job?"""
