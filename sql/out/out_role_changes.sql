-- purpose: pairs whose role changed with the version that a registry has now
-- grain: one row per study, entry, version it is compared with, pair type, path and roles
-- paper: section 6.2
-- A trajectory without any response has the role 'none'; against is that of out_drift.
CREATE OR REPLACE VIEW out_role_changes AS
WITH changed AS (
    FROM core_entry_versions
    WHERE is_present AND is_changed AND (against <> 'previous' OR is_another)
),
counted AS (
    SELECT
        study,
        entry,
        against,
        pair_type,
        path,
        coalesce(role_before, 'none') AS role_before,
        coalesce(role, 'none') AS role_now,
        count(*) AS trajectory_count,
        sum(weight) AS weight,
        list(DISTINCT pair_id ORDER BY pair_id) AS pair_ids
    FROM drift_pairs('changed')
    WHERE is_compared
    GROUP BY study, entry, against, pair_type, path, role_before, role
)
SELECT
    study,
    entry,
    against,
    pair_type,
    path,
    role_before,
    role_now,
    trajectory_count,
    -- Of the trajectories that both versions have, by the weights of their pairs.
    weight / sum(weight) OVER (
        PARTITION BY study, entry, against, pair_type, path
    ) AS frac,
    pair_ids
FROM counted
QUALIFY role_before <> role_now
ORDER BY study, entry, against, pair_type, path, trajectory_count DESC, role_before, role_now;
