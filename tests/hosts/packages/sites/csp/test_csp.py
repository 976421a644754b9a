"""A page under a strict policy has the panel, whose files whitenoise serves."""

import re

FILE = re.compile(r"/static/ai_assistant/[\w./-]+\.[0-9a-f]{12}\.(?:js|css)")


def test_page_under_the_policy(client, settings):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "ENABLED": True}

    page = client.get("/admin/host/poll/1/change/")

    html = page.content.decode()
    assert page["Content-Security-Policy"] == "default-src 'self'"
    assert 'id="aia"' in html
    own = html[html.index('id="aia"') :]
    assert not re.search(
        r"<script(?![^>]*(?:src=|application/json))|<style| style=", own
    )
    files = set(FILE.findall(html))
    assert len(files) > 1
    assert {client.get(one).status_code for one in files} == {200}
