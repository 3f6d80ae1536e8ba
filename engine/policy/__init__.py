"""From rule files to an indexed policy, or every problem in them."""
