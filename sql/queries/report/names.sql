-- purpose: display names of pair types, paths and models, and what is expected of pair types
SELECT kind, name, display_name, expect
FROM core_display_names
WHERE study = $study
ORDER BY kind, list_position(['should_not_matter', 'should_matter'], expect), position, name
