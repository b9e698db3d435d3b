"""The Streamlit app; it shows what prism_core computes and computes nothing itself."""
