"""The table of packages is that of the sites that the suite has."""

import re

from tests.docs.blocks import page
from tests.hosts.packages.environment import LINES, constant, site_names

OF_THE_PROJECT = {"jazzmin": "django-jazzmin", "unfold": "django-unfold"}
NONE = {"uuid_user": ("(no package)", "")}


def table():
    """Return the cells of each row after its package and version."""
    found = re.findall(r"^\| (?!-|package)(.+) \|$", page("docs/packages.md"), re.M)
    cells = [[cell.strip() for cell in row.split(" |")] for row in found]
    return {(package, version): rest for package, version, *rest in cells}


def named(site):
    """Return the package and the version by which the table names a site."""
    if site in NONE:
        return NONE[site]
    if package := OF_THE_PROJECT.get(site):
        pin = re.compile(rf"^{package}==([^ ;\\]+)", re.M)
        versions = [pin.findall(line.project.read_text())[0] for line in LINES]
        return package, ", ".join(dict.fromkeys(versions))
    pairs = [one.split("==") for one in constant(site, "REQUIRES").splitlines()]
    return ", ".join(name for name, _pin in pairs), ", ".join(pin for _, pin in pairs)


def test_each_site_has_a_row_with_what_it_requires():
    assert set(table()) == set(map(named, site_names()))


def test_limits_of_packages_are_told():
    newest = LINES[-1]
    limited = {named(one) for one in site_names() if constant(one, newest.refuses)}
    told = table().items()

    assert limited == {key for key, cells in told if cells[-1] != "same"}
    assert {cells[-2] for _key, cells in told} == {"same"}
