"""What a run did, and when: the page of a run in the admin."""
