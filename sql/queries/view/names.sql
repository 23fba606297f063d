-- purpose: display names of pair types, paths and models, and whether a pair type should matter
SELECT study, kind, name, display_name, expect
FROM core_display_names
ORDER BY study, kind, list_position(['should_not_matter', 'should_matter'], expect), position, name
