"""What verdicts leave behind: locks, and the gates that read them."""
