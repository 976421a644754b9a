"""Arguments that several tools on rows take. The model reads the descriptions."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

ObjectId = Annotated[str, BeforeValidator(str)]  # of any type, told as a text
Names = list[str]
PageNumber = Annotated[int, Field(ge=1)]
Filters = Annotated[
    dict[str, Any],
    Field(
        description='Django lookups: {"status": "new", "customer__name__contains": "x"}'
    ),
]
