"""The fields of a schedule as the model gives them."""

import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from project.questionnaires.models import Schedule

Days = Annotated[int, Field(ge=-3650, le=3650)]
Count = Annotated[int, Field(ge=1, le=3650)]
Hours = Annotated[int, Field(ge=0, le=24 * 366)]
CLEARED_BY_ANCHOR = {
    "enrolment": ("anchor_date", "anchor_event"),
    "fixed_date": ("anchor_event",),
    "event": ("anchor_date",),
}


class ScheduleConfig(BaseModel):
    """When people are asked; what is left out stays, or has its default."""

    model_config = ConfigDict(extra="forbid")

    anchor: Literal["enrolment", "fixed_date", "event"] | None = None
    anchor_date: datetime.date | None = None
    anchor_event: Annotated[str, Field(max_length=100)] | None = None
    offset_days: Days | None = None
    repeat_every_days: Count | None = None
    repeat_count: Count | None = None
    repeat_until: datetime.date | None = None
    window_before_h: Hours | None = None
    window_after_h: Hours | None = None
    time_zone: str | None = None
    active: bool | None = None


def apply(config: ScheduleConfig, schedule: Schedule) -> None:
    """
    Put the given fields on the schedule.

    A null clears what may be empty; what another anchor needs is emptied too.
    """
    for name, value in config.model_dump(exclude_unset=True).items():
        field: Any = Schedule._meta.get_field(name)
        if value is not None or field.null:
            setattr(schedule, name, value)
    for name in CLEARED_BY_ANCHOR.get(schedule.anchor, ()):
        setattr(schedule, name, "" if name == "anchor_event" else None)


def told(schedule: Schedule) -> dict[str, Any]:
    """Return the fields of a schedule under the names of the configuration."""
    return {name: getattr(schedule, name) for name in ScheduleConfig.model_fields}
