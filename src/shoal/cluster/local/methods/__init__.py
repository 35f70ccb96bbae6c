"""The methods that learn clusters from reports, and what they share."""
