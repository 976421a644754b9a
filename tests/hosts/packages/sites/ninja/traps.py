"""Operations that show what a call may not do, and what it is."""

import io

from django.http import (
    FileResponse,
    HttpResponse,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from ninja import File, Form, NinjaAPI, Router, UploadedFile
from ninja.security import HttpBearer, django_auth
from ninja.throttling import AuthRateThrottle

import ai_assistant
from tests.hosts.packages.sites.ninja.models import Author, Tag

seen = []  # what the traps were called with
traps = NinjaAPI(title="Traps", version="2", auth=django_auth, urls_namespace="traps")
own, late = Router(tags=["traps"]), Router(tags=["traps"])


class Token(HttpBearer):
    def authenticate(self, request, token):
        return token == "right"


@own.get("/reached")
def reached(request, name: str = ""):
    seen.append(("GET", name))
    return {"reached": True}


@own.delete("/reached")
def destroyed(request):
    seen.append(("DELETE", ""))
    return {"reached": True}


@own.get("/named/{name}")
def named(request, name: str):
    seen.append(("GET", name))
    return {"name": name}


@own.get("/echo/{path:rest}")
def echo(request, rest: str):
    """Tell what the request was."""
    return {
        "rest": rest,
        "user": request.user.get_username(),
        "cookies": dict(request.COOKIES),
        "headers": sorted(request.headers),
        "files": len(request.FILES),
        "method": request.method,
    }


# Two routers with the same address: the first one answers.
@own.get("/doubled")
def first(request):
    return {"reached": True}


@late.post("/doubled")
def second(request):
    seen.append("second")
    return {"reached": True}


@own.get("/redirecting")
def redirecting(request):
    return HttpResponseRedirect("/api/traps/reached?token=abc")


@own.get("/streaming")
def streaming(request):
    return StreamingHttpResponse(iter(["a", "b"]), content_type="text/csv")


@own.get("/file")
def file(request):
    return FileResponse(io.BytesIO(b"{}"), content_type="application/json")


@own.get("/text")
def text(request):
    return HttpResponse("<p>page</p>")


@own.get("/sneaky")
def sneaky(request):
    """A GET that writes."""
    return {"made": Tag.objects.create(name="sneaked").name}


@own.get("/sneaky-async")
async def sneaky_async(request):
    return {"made": (await Tag.objects.acreate(name="sneaked")).name}


@own.get("/throttled", throttle=[AuthRateThrottle("2/d")])
def throttled(request):
    return {"reached": True}


@own.post("/mailing")
@ai_assistant.api_operation(effect="write", external=True)
def mailing(request):
    """Send a mail."""
    seen.append("mailed")
    return {"ok": True}


@own.post("/count")
@ai_assistant.api_operation(effect="read")
def count(request, data: list[str]):
    """Count words."""
    return {"count": len(data)}


@own.get("/untyped")
def untyped(request):
    """Has no schema of its answer."""
    return list(Author.objects.values())


@own.get("/by-key/{api_key}")
def by_key(request, api_key: str):
    seen.append(api_key)
    return {"id": Author.objects.get(api_key=api_key).pk}


@own.get("/elsewhere", auth=Token(), operation_id="elsewhere")
def elsewhere(request):
    return {"user": str(request.auth)}


@own.get("/public", auth=None, operation_id="public")
def public(request):
    return {"is_person": request.user.is_authenticated}


@own.post("/login")
def log_in(request):
    seen.append("login")
    return {}


@own.post("/users/reset_password")
def reset(request):
    seen.append("password")
    return {}


@own.post("/form")
def form(request, name: Form[str]):
    seen.append("form")
    return {}


@own.post("/upload")
def upload(request, upload: File[UploadedFile]):
    seen.append("upload")
    return {}


@own.get("/secret", include_in_schema=False)
def secret(request):
    seen.append("secret")
    return {}


traps.add_router("", own)
traps.add_router("", late)
