"""Boxes and edges on a plane: layout, routes and looks, for the report and the page."""
