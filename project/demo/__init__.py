"""What `make run` needs beside the site itself: its users, and a start in one go."""
