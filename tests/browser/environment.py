"""The environment of the servers that the browser tests start."""

import json

ENV = {
    "TESTS_CSP": "default-src 'self'",
    "TESTS_PROPOSALS": "1",  # tools that propose what a card is to show
    "TESTS_PAGES": "1",  # groups have a module and items
    # a model that fails is given up soon
    "TESTS_SETTINGS": json.dumps({"LIMITS": {"MODEL_RETRIES": 1}}),
    "TESTS_CONSTANTS": '{"MODEL_RETRY_S": 0.1}',
}
