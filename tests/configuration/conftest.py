import uuid

import pytest
from django.contrib.auth import get_user_model

from ai_assistant.configuration import rows
from ai_assistant.context.page import page_info
from ai_assistant.modules.resolve import module_for
from ai_assistant.registry import registry
from ai_assistant.types import RunContext

TAUGHT = ("instruction", "skill", "command")


@pytest.fixture(autouse=True)
def fresh():
    rows.version.forget()
    with registry.restored():
        registry._registry = {
            key: part
            for key, part in registry._registry.items()
            if key[0] not in TAUGHT
        }
        yield
    rows.version.forget()


@pytest.fixture
def ada(db):
    return get_user_model().objects.create_superuser("ada", password="x")


@pytest.fixture
def context_of(ada):
    def make(path="/admin/", user=ada):
        page = page_info(path)
        return RunContext(
            user=user,
            run_id=uuid.uuid4(),
            conversation_id=uuid.uuid4(),
            page=page,
            module=module_for(page).id,
        )

    return make
