"""Budget: what does this epsilon buy, and for whom?"""
