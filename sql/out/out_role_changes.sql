-- purpose: pairs whose role changed with the version of a model, at the newest re-audit
-- grain: one row per study, changed entry, pair type, path and two roles ('none': no response)
-- paper: section 6.2
CREATE OR REPLACE VIEW out_role_changes AS
WITH changed AS (FROM core_entry_versions WHERE is_newest AND is_changed),
counted AS (
    SELECT
        study,
        entry,
        pair_type,
        path,
        coalesce(role_before, 'none') AS role_before,
        coalesce(role, 'none') AS role_now,
        count(*) AS trajectory_count,
        list(DISTINCT pair_id ORDER BY pair_id) AS pair_ids
    FROM drift_pairs('changed')
    WHERE is_compared
    GROUP BY study, entry, pair_type, path, role_before, role
)
SELECT
    study,
    entry,
    pair_type,
    path,
    role_before,
    role_now,
    trajectory_count,
    -- Of the trajectories that both versions have.
    trajectory_count / sum(trajectory_count) OVER (PARTITION BY study, entry, pair_type, path)
        AS frac,
    pair_ids
FROM counted
QUALIFY role_before <> role_now
ORDER BY study, entry, pair_type, path, trajectory_count DESC, role_before, role_now;
