"""The ecas instance, its file, its generator and its converter."""
