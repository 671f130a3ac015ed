"""How fast are jobs that need no network: products of matrices, simulated environments?"""
