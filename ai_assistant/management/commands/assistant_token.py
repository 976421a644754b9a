from argparse import ArgumentParser
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q
from django.views.decorators.debug import sensitive_variables

from ai_assistant import conf
from ai_assistant.engine.service import revoke
from ai_assistant.exceptions import Refused
from ai_assistant.management import user_named
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.identity.permissions import may_use, may_view
from ai_assistant.safety.identity.tokens import end_after, state_of, store_new

TOKEN_NAME_CHARS = 100


class Command(BaseCommand):
    """For operators: access tokens without the admin."""

    help = "Create an access token and print its secret, list tokens, or revoke one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="does", required=True)
        creates = actions.add_parser(
            "create", help="only the secret is written to standard output"
        )
        creates.add_argument("--user", required=True, help="the user as whom it acts")
        creates.add_argument("--name", required=True, help="what it is for")
        scopes = ",".join(AccessToken.Scope.values)
        creates.add_argument(
            "--scopes", default="read", help=f"one or more of {scopes}"
        )
        creates.add_argument(
            "--days", type=int, help="days until it expires; default TOKENS['DAYS']"
        )
        creates.add_argument(
            "--forever", action="store_true", help="if TOKENS['MAX_DAYS'] is None"
        )
        lists = actions.add_parser("list", help="one a line, newest first")
        lists.add_argument("--user", help="only those of this user")
        revokes = actions.add_parser("revoke", help="and stop the runs that it started")
        revokes.add_argument("token", help="its id, or what its secret begins with")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["does"] == "create":
            self._create(options)
        elif options["does"] == "list":
            self._list(options["user"])
        else:
            self._revoke(options["token"])

    @sensitive_variables("secret")
    def _create(self, options: dict[str, Any]) -> None:
        user, name = user_named(options["user"]), options["name"].strip()
        if not 0 < len(name) <= TOKEN_NAME_CHARS:
            raise CommandError(
                f"--name has {len(name)} characters. Give 1 to {TOKEN_NAME_CHARS}."
            )
        if options["forever"] and options["days"] is not None:
            raise CommandError("--days and --forever do not go together. Give one.")
        days = (
            conf.get("TOKENS", "DAYS") if options["days"] is None else options["days"]
        )
        scopes = [text.strip() for text in options["scopes"].split(",") if text.strip()]
        token = AccessToken(user=user, name=name, scopes=scopes)
        try:
            token.expires_at = end_after(None if options["forever"] else days)
            secret = store_new(token)
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(secret)
        self.stderr.write(f"{_token_line(token)}\nThe secret is not shown again.")
        self._warn(user, token)

    def _warn(self, user: Any, token: AccessToken) -> None:
        reads = token.scopes == [AccessToken.Scope.READ]
        if not (may_view if reads else may_use)(user):
            permission = "view_assistant" if reads else "use_assistant"
            self.stderr.write(
                f"User {user.get_username()!r} may not do that without the token: "
                f"give the permission 'ai_assistant.{permission}', and see STAFF_ONLY."
            )

    def _list(self, name: str | None) -> None:
        tokens = AccessToken.objects.select_related("user")
        if name:
            tokens = tokens.filter(user=user_named(name))
        for token in tokens:
            self.stdout.write(_token_line(token))

    def _revoke(self, id_or_prefix: str) -> None:
        token = _token(id_or_prefix)
        if not revoke(token):
            raise CommandError(f"Token {id_or_prefix!r} was revoked before.")
        self.stdout.write(f"Revoked: {_token_line(token)}")


def _token(id_or_prefix: str) -> AccessToken:
    """Return the token of that id or prefix. Raise CommandError without just one."""
    condition = Q(prefix=id_or_prefix.rstrip("…"))
    with suppress(ValueError):  # not an id
        condition |= Q(pk=UUID(id_or_prefix))
    tokens = list(AccessToken.objects.select_related("user").filter(condition)[:2])
    if len(tokens) != 1:
        problem = "is the beginning of several" if tokens else "does not exist"
        raise CommandError(
            f"Token {id_or_prefix!r} {problem}. Give an id, as `assistant_token list` prints it."
        )
    return tokens[0]


def _token_line(token: AccessToken) -> str:
    """Return a line about a token; nothing of it is secret."""
    ends = token.expires_at and token.expires_at.isoformat(timespec="seconds")
    used = token.last_used_at and token.last_used_at.isoformat(timespec="seconds")
    return (
        f"{token.pk}  {token.prefix}…  {token.user.get_username()}  {token.name!r}  "
        f"{','.join(token.scopes)}  {state_of(token).value}  "
        f"expires {ends or 'never'}  used {used or 'never'}"
    )
