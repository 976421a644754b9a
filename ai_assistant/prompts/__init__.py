"""The prompt: all that the model gets before the conversation."""
