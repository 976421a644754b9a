import json
from pathlib import Path

from django.utils.translation import gettext_lazy as _

import ai_assistant
from ai_assistant import RunContext
from project.questionnaires.models import QuestionType

CORE = Path(__file__).with_name("core.md").read_text(encoding="utf-8")


@ai_assistant.tool(
    effect="read",
    permission="questionnaires.view_questionnaire",
    label=_("Read the documentation"),
)
def read_core_documentation(context: RunContext) -> str:
    """
    Return how questionnaires work: question types, variables, conditions, actions.

    Read it before you set actions or a configuration that you do not know.
    """
    types = "\n\n".join(map(_type, QuestionType.objects.order_by("slug")))
    return f"{CORE}\n## Question types\n\n{types}\n"


def _type(question_type: QuestionType) -> str:
    schema = json.dumps(question_type.config_schema, ensure_ascii=False)
    default = json.dumps(question_type.default_config, ensure_ascii=False)
    return f"`{question_type.slug}`: {question_type.label}\n\n    {schema}\n\nDefault: {default}"
