"""Rehearse: which design predicts best, tried on rows that belong to nobody?"""
