-- purpose: files that readers open: of the compactions, and of the commits that these do not fold
WITH folded AS (
    SELECT study, name
    FROM named_commits
    WHERE kind = 'compactions' AND list_contains($compactions::VARCHAR[], study || '/' || key)
)
SELECT file.*
FROM committed_files AS file
ANTI JOIN folded ON folded.study = file.study AND folded.name = file.kind || '/' || file.key
WHERE file.kind <> 'compactions' OR list_contains($compactions::VARCHAR[], file.study || '/' || file.key)
ORDER BY file.kind = 'compactions', file.kind, file.study, file.key, file.table_name
