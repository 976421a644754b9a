"""May it: permissions, policy, and who is asking."""
