-- purpose: pairs of a run whose role changes most with the versions of an unfinished re-audit
-- The relation pending has the rows that the re-audit will record.
WITH recorded AS (
    FROM stg_registry_entries
    UNION ALL BY NAME
    SELECT $study AS study, * FROM pending
),
versions AS (FROM entry_versions('recorded') WHERE study = $study)
SELECT DISTINCT pair_id, path, repetition
FROM changed_pairs_of('versions')
WHERE run_id = $run_id
