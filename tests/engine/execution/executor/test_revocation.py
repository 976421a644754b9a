"""What a token has started ends when the token does, while the model speaks."""

import asyncio

import pytest

from ai_assistant.engine import service
from ai_assistant.engine.lifecycle.revocation import revoke
from ai_assistant.engine.storage.units import in_db
from ai_assistant.safety.identity.tokens import issue, stamp_of
from tests.engine.conftest import said
from tests.engine.execution.executor.conftest import booted, get_run, is_final, until

pytestmark = pytest.mark.django_db(transaction=True)


class TestRevocation:
    def test_speaking_model_is_cut_off(self, submission, endless, options, user):
        options(POLL_S=0.05)
        token, _secret = issue(user, "script", ["run"])

        async def scenario():
            async with booted():
                accepted = await service.send(submission(stamp=stamp_of(token)))
                await asyncio.to_thread(endless.wait, 20)
                await in_db(revoke, token)
                await until(is_final, accepted.run_id)

        asyncio.run(scenario())

        run = get_run()
        assert (run.state, run.error_code) == ("cancelled", "token_revoked")
        assert said(run).startswith("word ")
