"""What a module does when a run of its has ended, however it ended."""

import logging
from functools import partial

from django.db import transaction

from ai_assistant.engine.scope import RunScope
from ai_assistant.models.run import Run
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.resolve import module_by_id
from ai_assistant.safety.permissions import fresh_user

logger = logging.getLogger("ai_assistant")


def clean_up_later(run: Run) -> None:
    """Call the module's `cleanup` once the end of the run is committed."""
    module = module_by_id(run.module)
    if type(module).cleanup is not ContextModule.cleanup:
        transaction.on_commit(partial(_clean_up, run, module))


def _clean_up(run: Run, module: ContextModule) -> None:
    try:
        module.cleanup(RunScope(run, fresh_user(run.user_id)).context)
    except Exception:
        # The run has ended already, whatever the site's code says to that.
        logger.exception("cleanup of module %r failed", module.id)
