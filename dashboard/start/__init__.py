"""Start: what is this, and where was I?"""
