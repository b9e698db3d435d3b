"""Gallery: what is this good for, told in five stories?"""
