"""What people ask for every day, played by a script that reads what the tools tell."""
