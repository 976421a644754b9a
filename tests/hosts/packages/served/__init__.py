"""The site of a package in a web server of its own, and its panel in a browser."""
