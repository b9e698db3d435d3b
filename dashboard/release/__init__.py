"""Release: am I allowed, am I ready?"""
