from typing import Any

from rest_framework import serializers

from project.discover.models import LogLine
from project.questionnaires.models import (
    Question,
    Questionnaire,
    QuestionType,
    Schedule,
    Section,
)
from project.wiki.models import Page


class QuestionnaireSerializer(serializers.ModelSerializer[Questionnaire]):
    class Meta:
        model = Questionnaire
        fields = (
            *("id", "uuid", "title", "description", "status", "default_language"),
            *("languages", "revision", "owner"),
        )
        read_only_fields = ("status", "owner")


class SectionSerializer(serializers.ModelSerializer[Section]):
    class Meta:
        model = Section
        fields = ("id", "questionnaire", "title", "position")


class QuestionTypeSerializer(serializers.ModelSerializer[QuestionType]):
    class Meta:
        model = QuestionType
        fields = ("id", "slug", "label", "default_config")


class QuestionSerializer(serializers.ModelSerializer[Question]):
    class Meta:
        model = Question
        fields = ("id", "section", "type", "name", "text", "description", "position")


class ScheduleSerializer(serializers.ModelSerializer[Schedule]):
    class Meta:
        model = Schedule
        fields = (
            *("id", "questionnaire", "name", "anchor", "anchor_date", "anchor_event"),
            *("offset_days", "repeat_every_days", "repeat_count", "repeat_until"),
            *("window_before_h", "window_after_h", "time_zone", "active"),
        )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Ask for a date where the anchor is one."""
        given = {**({} if self.instance is None else vars(self.instance)), **attrs}
        is_fixed = given.get("anchor") == Schedule.Anchor.FIXED_DATE
        if is_fixed and not given.get("anchor_date"):
            raise serializers.ValidationError({"anchor_date": "Enter the date."})
        return attrs


class PageSerializer(serializers.ModelSerializer[Page]):
    class Meta:
        model = Page
        fields = ("id", "slug", "title", "text", "see_also")


class LogLineSerializer(serializers.ModelSerializer[LogLine]):
    class Meta:
        model = LogLine
        fields = ("id", "time", "level", "service", "message", "status", "duration_ms")
