"""The reports of the admin: what each counts, as tables that are drawn or sent as CSV."""
