from django.core.asgi import get_asgi_application

django_application = get_asgi_application()

from ai_assistant.routing import assistant_application  # noqa: E402

application = assistant_application(django_application)
