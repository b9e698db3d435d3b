"""Streamlit components that ship with PRISM Studio."""
