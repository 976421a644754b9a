"""What must hold when real processes are killed, frozen and cut off."""
