-- purpose: result of the last look at every rule for the entries that a re-audit judges
SELECT entry, metric, rule, pair_type, path, variant, gate_limit, level, found,
    lower_limit, upper_limit, verdict, reason
FROM stg_looks
WHERE study = $study AND run_id = $run_id AND is_last AND entry IN (
    SELECT entry FROM core_entry_versions WHERE study = $study AND is_newest AND is_changed
)
ORDER BY position
