"""The messages for a person whose budget is used up."""

from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _

from ai_assistant.models.usage import Budget


def amount_words(budget: Budget) -> str:
    """Return the size of a budget: "50,000 tokens" or "5.00 US dollars", or both."""
    tokens, usd = budget.tokens, budget.usd
    parts = []
    if tokens is not None:
        number = number_format(tokens, force_grouping=True)
        parts.append(_("%(n)s tokens") % {"n": number})
    if usd is not None:
        places = max(2, -int(usd.normalize().as_tuple().exponent))
        number = number_format(usd, decimal_pos=places)
        parts.append(_("%(n)s US dollars") % {"n": number})
    return _(" and ").join(parts)


def used_up(budget: Budget) -> str:
    """Return the sentence that says which budget is used up."""
    sentences = {
        Budget.Scope.RUN: _("The budget of one answer, %(amount)s, is used up."),
        Budget.Scope.USER: _("Your budget of %(amount)s %(time)s is used up."),
        Budget.Scope.GROUP: _(
            "The budget of the group “%(group)s”, %(amount)s %(time)s, is used up."
        ),
        Budget.Scope.SITE: _(
            "The budget of this site, %(amount)s %(time)s, is used up."
        ),
    }
    return sentences[Budget.Scope(budget.scope)] % _text_values(budget)


def too_large(budget: Budget) -> str:
    """Return the sentence for a request that exceeds the whole budget."""
    return _(
        "This needs more than the whole budget of %(amount)s. Ask for less, or "
        "begin a new conversation."
    ) % _text_values(budget)


def too_small(budget: Budget) -> str:
    """Return the sentence for a budget into which no request at all fits."""
    if budget.module:
        sentence = _(
            "The limit of the module “%(module)s”, %(amount)s for one answer, is too "
            "small for one request, whatever is asked. Whoever set up the module can "
            "raise it."
        )
        return sentence % {**_text_values(budget), "module": budget.module}
    sentence = (
        _(
            "The budget of %(amount)s is too small for one request, whatever is asked. "
            "Somebody who may change “Budgets” in the administration can raise it."
        )
        if budget.pk
        else _(
            "The budget of %(amount)s is too small for one request, whatever is asked. "
            "Whoever runs this site can raise it in its settings."
        )
    )
    return sentence % _text_values(budget)


def opens_again_text(opens_at: datetime | None) -> str:
    """Return "Again at 14:05.", with the day if that is another one."""
    if opens_at is None:
        return ""
    local = timezone.localtime(opens_at)
    if local.date() == timezone.localtime().date():
        return _("Again at %(time)s.") % {"time": date_format(local, "H:i")}
    return _("Again on %(day)s at %(time)s.") % {
        "day": date_format(local, "j F"),
        "time": date_format(local, "H:i"),
    }


def _text_values(budget: Budget) -> dict[str, str]:
    times = {
        Budget.Window.MINUTE: _("a minute"),
        Budget.Window.DAY: _("a day"),
        Budget.Window.MONTH: _("a month"),
        Budget.Window.RUN: "",
    }
    return {
        "amount": amount_words(budget),
        "time": times[Budget.Window(budget.window)],
        "group": budget.group.name if budget.group else "",
    }
