"""What the headless command does: its command line, the kinds of files, and the correction of each clip in them."""
