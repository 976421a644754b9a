import ai_assistant

# As the feature table classes them.
DESIGNER = {
    "add_question": "write",
    "add_questions": "write",
    "update_question": "write",
    "delete_question": "destructive",
    "change_question_type": "destructive",
    "clone_question": "write",
    "get_question_actions": "read",
    "add_section": "write",
    "update_section_title": "write",
    "move_section": "write",
    "reorder_sections": "write",
    "move_question": "write",
    "set_question_actions": "write",
    "translate_questions": "write",
    "set_question_config_override": "write",
    "set_question_config_overrides": "write",
    "remove_question_config_override": "destructive",
    "create_variable": "write",
    "create_variables": "write",
    "update_variable": "write",
    "delete_variable": "destructive",
    "read_core_documentation": "read",
}
SCHEDULING = {
    "get_schedules": "read",
    "get_schedule_details": "read",
    "create_schedule": "write",
    "update_schedule": "write",
    "delete_schedule": "destructive",
    "preview_access_windows": "read",
    "describe_schedule": "read",
    "validate_schedule_sections": "read",
}


class TestRegistration:
    def test_effects_and_permissions(self):
        tools = ai_assistant.registry.tools().values()
        ours = [tool for tool in tools if tool.origin.startswith("project.quest")]

        assert {tool.name: tool.effect for tool in ours} == {
            **DESIGNER,
            **SCHEDULING,
            "list_questionnaires": "read",
            "count_questions": "read",
            "read_questionnaire": "read",
            "rename_section": "write",
            "publish_questionnaire": "write",
            "archive_questionnaire": "write",
            "recompute_positions": "write",
            "delete_section": "destructive",
        }
        assert all(tool.permission.startswith("questionnaires.") for tool in ours)

    def test_each_that_writes_at_once_shows_what_it_would_change(self):
        tools = ai_assistant.registry.tools().values()
        writing = [tool for tool in tools if tool.effect in ("write", "destructive")]

        unseen = [
            tool.name
            for tool in writing
            if tool.origin.startswith("project.quest")
            and tool.approval.preview != "transaction"
        ]

        assert unseen == ["recompute_positions"]

    def test_recomputing_goes_on_in_the_background(self):
        tool = ai_assistant.registry.tools()["recompute_positions"]

        assert (tool.execution.background, tool.execution.resumable) == (True, True)

    def test_modules_have_their_tools(self):
        modules = ai_assistant.registry.modules()

        for module, expected in (("designer", DESIGNER), ("scheduling", SCHEDULING)):
            names = [tool.assistant_tool for tool in modules[module].tools]
            assert names == list(dict.fromkeys(names))
            assert set(names) == set(expected)
