"""The first app of the demo: questionnaires, their sections and questions."""
