"""All configuration of a site as one file: written, compared and applied as a whole."""
