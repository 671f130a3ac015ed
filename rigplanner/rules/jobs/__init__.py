"""Do the workloads run on them?"""
