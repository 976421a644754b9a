"""Tools on the rows of the site, always through the ModelAdmin and as the user."""
