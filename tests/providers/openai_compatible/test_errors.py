"""What servers say when they do not answer, and the code of each."""

import pytest

from ai_assistant.providers.openai_compatible.errors import refusal, text_of


def code_of(status, body):
    return refusal(status, {}, text_of(body.encode())).code


class TestCode:
    @pytest.mark.parametrize(
        ("status", "body", "code"),
        [
            (  # OpenAI
                400,
                '{"error": {"message": "This model\'s maximum context length is 4097 '
                'tokens.", "code": "context_length_exceeded"}}',
                "context_too_long",
            ),
            (  # llama.cpp
                400,
                '{"error":{"code":400,"message":"the request exceeds the available '
                'context size.","type":"exceed_context_size_error","n_ctx":256}}',
                "context_too_long",
            ),
            (  # vLLM
                400,
                '{"object":"error","message":"This model\'s maximum context length is '
                '8192 tokens. However, you requested 8204 tokens","code":400}',
                "context_too_long",
            ),
            (413, "Request Entity Too Large", "context_too_long"),
            (  # Azure
                400,
                '{"error": {"code": "content_filter", "message": "The response was '
                "filtered due to the prompt triggering Azure OpenAI's content "
                'management policy."}}',
                "content_refused",
            ),
            (  # OpenRouter
                403,
                '{"error": {"code": 403, "message": "Your input was flagged"}}',
                "content_refused",
            ),
            (402, '{"error": {"message": "Insufficient Balance"}}', "no_access"),
            (404, '{"detail": "Not Found"}', "no_model"),
            (422, '{"detail": [{"msg": "field required"}]}', "bad_request"),
            (529, "", "provider_down"),
            (502, "<html><h1>Bad Gateway</h1></html>", "provider_down"),
        ],
    )
    def test_code_by_status_and_words(self, status, body, code):
        assert code_of(status, body) == code

    def test_words_of_the_request_do_not_count(self):
        said = '{"error": {"message": "Bad. ' + "x" * 600 + ' content_policy"}}'

        assert code_of(400, said) == "bad_request"


class TestWait:
    @pytest.mark.parametrize(
        ("status", "wait_s"), [(429, 7.0), (503, 7.0), (400, None)]
    )
    def test_wait_is_of_codes_that_pass(self, status, wait_s):
        assert refusal(status, {"Retry-After": "7"}, "").retry_after_s == wait_s


class TestText:
    @pytest.mark.parametrize(
        ("body", "text"),
        [
            ('{"error": "Broken."}', "Broken."),
            ('[{"error": {"message": "No.", "code": 400}}]', "No. (400)"),
            ('{"message": "No.", "type": "bad"}', "No. (bad)"),
            ('{"error": {"message": ["a"]}}', '["a"]'),
            ("null", "None"),
            ("", ""),
            ("\ufffdx", "\ufffdx"),
        ],
    )
    def test_forms(self, body, text):
        assert text_of(body.encode()) == text
