"""The AdminSites that have pages, and the addresses of these."""

from django.contrib.admin import AdminSite
from django.contrib.admin import site as default_site
from django.contrib.admin.sites import all_sites
from django.urls import NoReverseMatch, Resolver404, ResolverMatch, resolve, reverse

from ai_assistant.types import RunContext


def sites_of(context: RunContext) -> list[AdminSite]:
    """Return all sites that have pages: that of the user's page, then the default."""
    current = context.page.view_name.partition(":")[0]
    mounted = [site for site in all_sites if _is_mounted(site)]
    return sorted(
        mounted,
        key=lambda site: (site.name != current, site != default_site, site.name),
    )


def path_on(site: AdminSite, name: str, *args: str) -> str:
    """Return the path of a page of the site; empty if there is no such page."""
    try:
        return reverse(f"{site.name}:{name}", args=args)
    except NoReverseMatch:
        return ""


def match_of(path: str) -> ResolverMatch | None:
    """Return what the path leads to, or None."""
    try:
        return resolve(path)
    except Resolver404:
        return None


def _is_mounted(site: AdminSite) -> bool:
    """Tell whether a page of the site can be reached: a site may only be made."""
    match = match_of(path_on(site, "index"))
    return match is not None and getattr(match.func, "admin_site", None) is site
