"""
The REST API: a user's own conversations, runs, interrupts, changes and usage.

Every view says itself who may come in, what it reads and what it answers: the
site's own settings of Django REST framework are neither needed nor changed.
"""
