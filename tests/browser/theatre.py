"""The server on which scenes are played, and the person who plays them."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from tests.browser import scenes
from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer

PAGE = "/admin/questionnaires/questionnaire/"
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}
ENV = {
    "TESTS_CSP": "default-src 'self'",
    "TESTS_PROPOSALS": "1",
}


class Theatre:
    """Servers with a scripted model, which says what a scene needs."""

    def __init__(
        self, browser: Browser, model: ModelServerProcess, folder: Path
    ) -> None:
        self.browser = browser
        self.model = model
        self._folder = folder
        self._servers: dict[str, DemoServer] = {}

    @contextmanager
    def play(self, scene: scenes.Scene, **options: Any) -> Iterator[Panel]:
        """
        Play a scene in a browser of its own; yield the panel as it stands then.

        A scene whose part of the panel is not there raises `scenes.Missing`.
        """
        name = scenes.name_of(scene)
        self.model.script("default", scenes.script_of(scene))
        for marked, said in scenes.BESIDE.items():
            self.model.script(marked, said)
        server = self._server(scenes.SETTINGS.get(name, {}))
        # Who is signed out ends a session: not that of the others. Who is limited
        # is so for a while: not at the next telling.
        fresh = scene in scenes.SIGNED_IN_ANEW
        options = {**options, **scenes.OPTIONS.get(name, {})}
        visitor = Visitor(self.browser, server.url, fresh=fresh, **options)
        try:
            panel = visitor.panel(PAGE)
            scene(panel)
            yield panel
            visitor.context.set_offline(False)
            _end(panel)
        finally:
            visitor.leave()
            if server is not self._server({}):
                self._servers.pop(self._key(scenes.SETTINGS[name])).kill()

    @property
    def server(self) -> DemoServer:
        """The server of all scenes that ask for no settings of their own."""
        return self._server({})

    def close(self) -> None:
        for server in self._servers.values():
            server.__exit__(None, None, None)

    def _server(self, settings: dict[str, Any]) -> DemoServer:
        key = self._key(settings)
        if key not in self._servers:
            where = self._folder / str(len(list(self._folder.iterdir())))
            where.mkdir()
            env = {**ENV, "TESTS_SETTINGS": key}
            server = DemoServer(where, model_url=self.model.url, env=env, forged=True)
            self._servers[key] = server.start()
        return self._servers[key]

    def _key(self, settings: dict[str, Any]) -> str:
        profiles = _profiles(self.model)
        for name, own in settings.get("PROFILES", {}).items():
            profiles[name] = {**profiles["default"], **own}
        return json.dumps({**settings, "PROFILES": profiles})


@contextmanager
def theatre(browser: Browser) -> Iterator[Theatre]:
    with ModelServerProcess() as model, tempfile.TemporaryDirectory() as folder:
        built = Theatre(browser, model, Path(folder))
        try:
            yield built
        finally:
            built.close()


def _profiles(model: ModelServerProcess) -> dict[str, Any]:
    """Return the settings under which the model has a name fit for a picture."""
    profile = {
        "MODEL": "openai/scripted",
        "LABEL": "Example model",
        "API_BASE": model.base,
        "API_KEY_ENV": "ASSISTANT_API_KEY",
    }
    return {"default": profile}


def _end(panel: Panel) -> None:
    """Stop what a scene left under way: it would count against the next one."""
    if panel.root.count() and panel.root.get_attribute("data-busy"):
        panel.open()
        panel.stop()
        panel.wait_state("stopped", "idle")
