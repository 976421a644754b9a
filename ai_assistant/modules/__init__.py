"""Context modules: the assistant's tools, prompt and rules on some pages."""
