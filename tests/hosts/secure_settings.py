"""
The site of `tests.hosts.settings` under the policy of Django 6: nonces alone.

TESTS_SECURE_CSP is JSON that goes over the policy.
"""

import json
import os

from django.utils.csp import CSP

from tests.hosts.settings import *  # noqa: F403 - a settings module is its names
from tests.hosts.settings import MIDDLEWARE, TEMPLATES

MIDDLEWARE = ["django.middleware.csp.ContentSecurityPolicyMiddleware", *MIDDLEWARE]
TEMPLATES[0]["OPTIONS"]["context_processors"].append(
    "django.template.context_processors.csp"
)
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.NONCE],
    "style-src": [CSP.NONCE],
    "img-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    **json.loads(os.environ.get("TESTS_SECURE_CSP", "{}")),
}
