"""Checks the configuration of a question against the schema of its type."""

import json
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from referencing import Registry

from project.questionnaires.models import QuestionType

HINT_CHARS = 1500


def configuration_error(config: Any, question_type: QuestionType) -> str:
    """Return what is wrong with `config`, in one line; nothing if it fits."""
    schema = {"type": "object", **question_type.config_schema}
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return f"The schema of type {question_type.slug!r} is no JSON Schema."
    # An empty registry: a reference in the schema never fetches anything.
    validator = Draft202012Validator(schema, registry=Registry())
    worst = best_match(validator.iter_errors(config))
    return _sentence(worst) if worst else ""


def schema_hint(question_type: QuestionType) -> str:
    """Return the schema of a type and an example, as a model can use them."""
    schema = json.dumps(question_type.config_schema, ensure_ascii=False)
    example = json.dumps(question_type.example_config, ensure_ascii=False)
    return f"Schema: {schema} Example: {example}"[:HINT_CHARS]


def _sentence(error: ValidationError) -> str:
    where = error.json_path.removeprefix("$").removeprefix(".")
    return f"{where}: {error.message}" if where else error.message
