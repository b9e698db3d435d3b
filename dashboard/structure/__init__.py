"""Structure: what drives Y, and what will be protected?"""
