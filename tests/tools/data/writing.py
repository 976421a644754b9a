"""Calls of the data tools that write, and something to write on."""

from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any

from ai_assistant.registry import registry
from ai_assistant.tools.arguments import validate_arguments
from ai_assistant.types import ToolResult
from tests.tools.data.reading import context_of
from tests.warehouse.models import Mark, Movement, Part, Product, Remark, Supplier


def use(name: str, user: Any, context: Any = None, **arguments: Any) -> ToolResult:
    """Call the tool, with an approval taken for granted."""
    tool = registry.tool(name)
    given = validate_arguments(tool, arguments)
    return tool.handler(context or context_of(user), **given)


def preview(name: str, user: Any, context: Any = None, **arguments: Any) -> Any:
    """Return what the person would be shown."""
    tool = registry.tool(name)
    given = validate_arguments(tool, arguments)
    return tool.approval.preview(context or context_of(user), **given)


def shown(changes: Any, position: int = 0) -> dict[str, tuple[str, str]]:
    """Return the fields of one object of a preview: before and after, by name."""
    fields = changes.objects[position].fields
    return {field.name: (field.before, field.after) for field in fields}


def make_stock() -> SimpleNamespace:
    acme = Supplier.objects.create(name="Acme", code="AC")
    bolt = Supplier.objects.create(name="Bolt & Co", code="BO")
    closed = Supplier.objects.create(name="Closed", code="CL", is_active=False)
    marks = [Mark.objects.create(name=name) for name in ("green", "heavy", "old")]
    lamp = Product.objects.create(
        name="Lamp",
        sku="L-1",
        slug="lamp",
        supplier=acme,
        backup=bolt,
        price="12.50",
        weight=1.5,
        made_on=date(2025, 2, 3),
        sold_at=datetime(2025, 5, 6, 7, 8, 9, 123456, tzinfo=UTC),
        is_fragile=True,
        data={"a": [1, 2]},
        note="  kept blanks \n",
        api_key="canary-key",
        margin=7,
        seen_at=datetime(2025, 1, 1, 1, 1, 1, 777777, tzinfo=UTC),
    )
    lamp.marks.set(marks[:2])
    part = Part.objects.create(product=lamp, code="P-1", count=3, pin="canary-pin")
    chair = Product.objects.create(name="Chair", sku="C-1", slug="chair", supplier=acme)
    locked = Product.objects.create(name="locked safe", sku="S-1", supplier=acme)
    return SimpleNamespace(
        acme=acme,
        bolt=bolt,
        closed=closed,
        marks=marks,
        lamp=lamp,
        part=part,
        chair=chair,
        locked=locked,
    )


def columns(obj: Any) -> dict[str, Any]:
    """Return the row of `obj`, as a query tells it."""
    return type(obj).objects.filter(pk=obj.pk).values().get()


__all__ = ["Movement", "Remark", "columns", "make_stock", "preview", "shown", "use"]
