"""The same array programs by eager NumPy, by tagalong and by its peers."""
