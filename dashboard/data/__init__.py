"""Data: is my table described without looking inside it?"""
