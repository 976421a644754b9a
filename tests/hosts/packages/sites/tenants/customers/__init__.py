"""The tenants of the site, and their hosts: shared by all of them."""
