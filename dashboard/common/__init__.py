"""What several pages share: widgets, entries, the asset and the confirmation of a spending."""
