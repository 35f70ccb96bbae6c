"""Find and publish the groups in data about people, and say what each person was promised."""
