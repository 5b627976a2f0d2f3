"""What statements of several sources share."""
