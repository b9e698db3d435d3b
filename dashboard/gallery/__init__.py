"""Gallery: what is this good for, told in four stories?"""
