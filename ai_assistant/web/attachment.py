"""What is sent to be saved as a file, under a name that each system takes."""

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify

NAME_CHARS = 60


def name_file(
    response: HttpResponse, title: str, ending: str, *, otherwise: str
) -> None:
    """Let the response be saved as its `title`, or `otherwise`, with this `ending`."""
    name = slugify(title)[:NAME_CHARS].strip("-") or otherwise
    response["Content-Disposition"] = content_disposition_header(
        as_attachment=True, filename=f"{name}.{ending}"
    )
