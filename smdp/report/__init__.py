"""What a researcher takes away: figures in files, and a report as HTML and Word."""
