import hashlib
import sys

import pytest

from tools import venv


class TestMain:
    def test_main_does_nothing_when_all_is_installed(self, tmp_path):
        wanted = venv.lock_file().read_bytes() + sys.version.encode()
        (tmp_path / "installed.sha256").write_text(hashlib.sha256(wanted).hexdigest())

        venv.main(tmp_path)

        assert [file.name for file in tmp_path.iterdir()] == ["installed.sha256"]

    def test_main_installs_when_the_lock_has_changed(self, tmp_path, monkeypatch):
        done = []
        monkeypatch.setattr(venv, "create", done.append)
        monkeypatch.setattr(venv, "install", lambda folder, lock: done.append(lock))
        (tmp_path / "installed.sha256").write_text("of another lock file")

        venv.main(tmp_path)

        assert done == [tmp_path, venv.lock_file()]
        assert (tmp_path / "installed.sha256").read_text() != "of another lock file"


@pytest.mark.parametrize(
    ("python", "name"),
    [((3, 11), "requirements.txt"), ((3, 13), "requirements-django61.txt")],
)
def test_lock_file_follows_the_python(monkeypatch, python, name):
    monkeypatch.setattr(sys, "version_info", python)

    assert venv.lock_file().name == name
