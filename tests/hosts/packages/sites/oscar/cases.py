from oscar.core.loading import get_model

from tests.hosts.packages.cases import add, bulk, change, delete

PRODUCT, OFFER = "catalogue.product", "offer.conditionaloffer"
CATEGORY = "catalogue.category"
# As the page saves them; the tool leaves NULL as it is.
NOTHING = {"meta_description": ""}
# An empty choice of a file, which the tools never post.
OF_THE_PAGE = {
    f"attribute_values-{row}-value_{kind}"
    for row in range(4)
    for kind in ("file", "image")
}
OTHER_PAGES = ["/shop/dashboard/"]
CASES = {
    "add": add(
        PRODUCT,
        {"title": "Blue lamp", "product_class": 1},
        {
            "title": "Blue lamp",
            "slug": "blue-lamp",
            "product_class": "1",
            "productcategory_set-0-category": "1",
        },
        more={"inlines": {"productcategory_set": [{"category": 1}]}},
    ),
    "change": change(PRODUCT, 1, {"title": "B"}, {"title": "B"}),
    "change a row": change(
        PRODUCT,
        1,
        {"description": "More"},
        {"description": "More", "attribute_values-0-value_text": "Blue"},
        more={"inlines": {"attribute_values": [{"id": 1, "value_text": "Blue"}]}},
    ),
    "delete a row": change(
        PRODUCT,
        1,
        {},
        {"productcategory_set-0-DELETE": "on"},
        more={"inlines": {"productcategory_set": [{"id": 1, "DELETE": True}]}},
    ),
    "a product without its class": add(
        PRODUCT, {"title": "None"}, {"title": "None", "slug": "none"}, refused=True
    ),
    "change a category of a tree": change(
        CATEGORY, 1, {"name": "Lights"}, {"name": "Lights"}
    ),
    "change an offer": change(OFFER, 1, {"priority": 3}, {"priority": "3"}),
    "bulk": bulk(PRODUCT, [1, 2], {"description": "C"}, {"description": "C"}),
    "delete": delete(PRODUCT, 1),
}


def make() -> None:
    kind = get_model("catalogue", "ProductClass").objects.create(pk=1, name="Lamps")
    colour = kind.attributes.create(pk=1, name="Colour", code="colour", type="text")
    tree = get_model("catalogue", "Category")
    category = tree.objects.add_root(instance=tree(pk=1, name="Lamps", **NOTHING))
    for pk in (1, 2):
        product = get_model("catalogue", "Product").objects.create(
            pk=pk, title=f"A{pk}", product_class=kind, **NOTHING
        )
        product.attribute_values.create(
            pk=pk, attribute=colour, value_text="Red", value_richtext=""
        )
        product.productcategory_set.create(pk=pk, category=category)
    everything = get_model("offer", "Range").objects.create(
        name="All", includes_all_products=True
    )
    terms = {"range": everything, "value": 1}
    get_model("offer", "ConditionalOffer").objects.create(
        pk=1,
        name="Summer",
        condition=get_model("offer", "Condition").objects.create(type="Count", **terms),
        benefit=get_model("offer", "Benefit").objects.create(
            type="Percentage", **terms
        ),
    )
