"""What data tools have changed, undone by people of every kind."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import transaction

import ai_assistant
from ai_assistant import ContextModule
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store
from ai_assistant.changes.undo.values import (
    Choice,
    UndoPlan,
    UndoRequest,
    UndoRow,
    UndoTarget,
)
from ai_assistant.engine.undo import Undone, read_plan, undo
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import Run, RunState, Step
from ai_assistant.testing import temporary_registration
from tests.tools.data.writing import make_stock, use
from tests.warehouse.models import Part, Product


@dataclass
class Scene:
    """A run of a person that has ended."""

    user: Any
    run: Run
    step: Step

    def call(self, tool: str, **arguments: Any) -> ChangeSet:
        """Call a data tool as the person, and keep what it changes."""
        return self.do(lambda: use(tool, self.user, **arguments))

    def do(self, work) -> ChangeSet:
        call = ToolCall.objects.create(
            run=self.run, step=self.step, position=self.run.calls.count(), name="tool"
        )
        with transaction.atomic():
            with recording() as recorder:
                work()
            made = store(recorder, self.run, call, self.user)
        assert made is not None
        return made

    @property
    def target(self) -> UndoTarget:
        return UndoTarget(kind="run", id=self.run.pk)

    def plan(self, target=None, user=None) -> UndoPlan:
        return read_plan((user or self.user).pk, target or self.target)

    def row(self, **kind) -> UndoRow:
        """Return the only row of the plan of these attributes."""
        (found,) = [
            row
            for row in self.plan().rows
            if all(getattr(row, name) == value for name, value in kind.items())
        ]
        return found

    def undo(self, target=None, *, user=None, rows=None, overruled=(), digest=""):
        target = target or self.target
        choice = Choice(
            rows=None if rows is None else frozenset(rows),
            overruled=frozenset(overruled),
        )
        return undo(
            UndoRequest(
                user_id=(user or self.user).pk,
                target=target,
                digest=digest or self.plan(target, user).digest,
                choice=choice,
            )
        )

    def redo(self, undone: Undone) -> Undone:
        return self.undo(UndoTarget(kind="change", id=undone.change_id))


@pytest.fixture(autouse=True)
def oracle():
    """Do not look at the runs: these have no events."""


@pytest.fixture
def scene_of(db):
    def make(user) -> Scene:
        conversation = Conversation.objects.create(owner=user)
        run = Run.objects.create(
            conversation=conversation, user=user, state=RunState.SUCCEEDED
        )
        message = Message.objects.create(
            conversation=conversation, run=run, role="assistant", position=1
        )
        step = Step.objects.create(run=run, index=0, message=message)
        return Scene(user, run, step)

    return make


@pytest.fixture
def boss(db):
    return get_user_model().objects.create_superuser("ada", password="hunter2hunter2")


@pytest.fixture
def clerk(db):
    """Staff who may change products and nothing else."""
    user = get_user_model().objects.create_user("nora", is_staff=True)
    names = ["view_assistant", "use_assistant", "view_product", "change_product"]
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    return user


@pytest.fixture
def scene(scene_of, boss) -> Scene:
    return scene_of(boss)


@pytest.fixture
def stock(db):
    made = make_stock()
    Product.objects.update(note="")
    for product in (made.lamp, made.chair, made.locked):
        product.refresh_from_db()
    return made


# --- a module that brings back its object as a whole ---


def page_of(product: Product) -> str:
    """Return the path of the page of a product."""
    return f"/admin/warehouse/product/{product.pk}/change/"


def taken(product: Product) -> dict[str, Any]:
    """Return what the module of products takes of one."""
    parts = product.parts.order_by("pk").values("pk", "code", "count", "pin")
    return {"name": product.name, "parts": list(parts)}


@pytest.fixture
def faults():
    """What goes wrong: the name of a method of the module, and what it does then."""
    return {}


@pytest.fixture
def product_module(faults):
    """Register a module for the pages of products."""

    def happened(name):
        if fault := faults.get(name):
            raise fault

    with temporary_registration():

        @ai_assistant.register
        class ProductModule(ContextModule):
            """A product with its parts."""

            matches = ("admin:warehouse_product_change",)
            features: ClassVar = {"rollback": True}

            def take_snapshot(self, context):
                """Return the name of the product, and its parts."""
                happened("take_snapshot")
                product = self.get_root(context)
                return None if product is None else taken(product)

            def apply_rollback(self, context, snapshot):
                """Make parts anew."""
                product = self.get_root(context)
                Product.objects.filter(pk=product.pk).update(name=snapshot["name"])
                product.parts.all().delete()
                for one in snapshot["parts"]:
                    Part.objects.create(product=product, **one)
                happened("apply_rollback")

        yield
