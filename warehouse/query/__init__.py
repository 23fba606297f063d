"""DuckDB over committed files: views, functions, checks and exports."""
