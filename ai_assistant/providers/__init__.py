"""Who answers: the code that calls a model."""
