"""The pages, one file each; found by walking this folder."""
