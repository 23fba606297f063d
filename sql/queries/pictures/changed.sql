-- purpose: pairs of a run whose role changes most with the versions that a re-audit is about to record
WITH entries AS (
    FROM stg_registry_entries WHERE study = $study
    UNION ALL BY NAME
    SELECT *, $study AS study FROM entries_found
),
versions AS (FROM entry_versions_of('entries'))
SELECT DISTINCT pair_id, path, repetition
FROM changed_pairs_of('versions')
WHERE run_id = $run_id
