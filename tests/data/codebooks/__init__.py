"""Tests of the room `data.codebooks`."""
