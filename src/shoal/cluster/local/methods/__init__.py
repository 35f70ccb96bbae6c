"""The methods that learn clusters from reports, and the parts they share."""
