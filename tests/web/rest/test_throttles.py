from ai_assistant import conf
from tests.web.rest.program import code


def limited(settings, **rates):
    settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, rates)


class TestRate:
    def test_rate_of_all_requests(self, program, settings):
        ada = program()
        limited(settings, RATES={"API": "2/m"})

        answers = [ada.get("runs/") for _ in range(3)]

        assert [one.status_code for one in answers] == [200, 200, 429]
        assert code(answers[2]) == "throttled"
        assert 0 < int(answers[2].headers["Retry-After"]) <= 60
        assert program("bob").get("runs/").status_code == 200

    def test_rate_of_what_writes(self, program, settings):
        ada = program()
        limited(settings, RATES={"API_WRITE": "1/h"})
        ada.start()

        assert code(ada.start()) == "throttled"
        assert ada.get("runs/").status_code == 200

    def test_rate_that_is_empty(self, program, settings):
        ada = program()
        limited(settings, RATES={"API": "", "API_WRITE": ""})

        assert ada.get("runs/").status_code == 200

    def test_rate_of_messages_is_the_engines_own(self, program, settings):
        ada = program()
        limited(settings, RATES={"USER": "1/h"})
        ada.start()

        response = ada.start()

        assert (response.status_code, code(response)) == (429, "limited")
        assert int(response.headers["Retry-After"]) > 60
