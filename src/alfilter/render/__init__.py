"""A model back as a picture, a sound, a volume, a video, a mesh or a table of values."""
