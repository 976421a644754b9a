"""Asks servers that speak OpenAI's chat completions, over HTTP and without litellm."""
