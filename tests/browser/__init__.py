"""Tests in a real Chromium, against a real server and a real model server."""
