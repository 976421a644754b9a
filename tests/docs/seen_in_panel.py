"""What the tutorial of a module says that one sees; run among the tests of its shop."""

from django.contrib.auth import get_user_model
from django.test import TestCase
from shop.models import Order

from ai_assistant.testing import run_assistant

READ_ONLY = "The assistant does not change this order."
ABOUT = "Asked on Order"


class SeenTests(TestCase):
    def setUp(self):
        self.ada = get_user_model().objects.create_superuser("ada")
        self.client.force_login(self.ada)
        self.order = Order.objects.create(customer="Bob", total=10)
        self.page = f"/admin/shop/order/{self.order.pk}/change/"

    def shown(self, path, conversation=""):
        self.client.cookies["aia_ui"] = f"o=1&c={conversation}"
        return self.client.get(path)

    def test_chip_of_step_2(self):
        self.assertContains(self.shown(self.page), "Other orders")

    def test_rule_of_step_6(self):
        self.assertNotContains(self.shown(self.page), READ_ONLY)
        Order.objects.update(paid=True)

        self.assertContains(self.shown(self.page), READ_ONLY)
        played = run_assistant(self.ada, self.page, "Make it 12", replies=["No."])
        assert "set_total" not in played.offered

    def test_banner_of_step_8(self):
        played = run_assistant(self.ada, self.page, "Make it 12", replies=["Done."])
        conversation = played.run.conversation_id
        orders = "/admin/shop/order/"

        self.assertNotContains(self.shown(self.page, conversation), ABOUT)
        listed = self.shown(orders, conversation)
        self.assertContains(listed, ABOUT)
        self.assertContains(listed, f'<a href="{self.page}">Back</a>', html=True)
        played = run_assistant(
            self.ada, orders, "13", replies=["No."], conversation_id=conversation
        )
        assert "set_total" not in played.offered
        self.assertNotContains(self.shown(orders, conversation), ABOUT)
