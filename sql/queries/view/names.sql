-- purpose: display names of pair types, paths and models, and whether a pair type should matter
SELECT study, kind, name, display_name, expect
FROM core_display_names
ORDER BY study, kind, position, name
