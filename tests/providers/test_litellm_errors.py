from ai_assistant.providers.errors import SENTENCES
from ai_assistant.providers.litellm_errors import TYPES


class TestCodes:
    def test_codes_are_known(self):
        assert {code for _, code in TYPES} <= set(SENTENCES)
