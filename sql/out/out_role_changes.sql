-- purpose: pairs whose role changed with the present version of a registry
-- grain: one row per study, entry, version it is compared with, pair type, path and roles
-- paper: section 6.2
-- A trajectory without any response has the role 'none'. against is as in out_drift.
CREATE OR REPLACE VIEW out_role_changes AS
WITH versions AS (FROM core_entry_versions),
changed AS (FROM changed_versions('versions')),
sized AS (
    SELECT *, change_of_profile(evidence_before, contradiction_before, fragility_before,
            evidence, contradiction, fragility) AS change_size,
        row_number() OVER (
            PARTITION BY study, entry, against, pair_type, path, role_before, role, pair_id
            ORDER BY change_size DESC
        ) = 1 AS is_largest -- of the repetitions of a pair
    FROM drift_pairs('changed')
    WHERE is_compared
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
        weighted_mean(change_size, weight) AS mean_change_size,
        max(change_size) AS largest_change_size,
        list(pair_id ORDER BY change_size DESC, pair_id) FILTER (is_largest) AS pair_ids
    FROM sized
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
    -- Share of the trajectories that both versions have, with the weights of pairs.
    weight / sum(weight) OVER (
        PARTITION BY study, entry, against, pair_type, path
    ) AS frac,
    mean_change_size, -- joint change of E, C and F (change_of_profile), score units
    largest_change_size,
    pair_ids -- the largest change first
FROM counted
QUALIFY role_before <> role_now
ORDER BY study, entry, against, pair_type, path, trajectory_count DESC, role_before, role_now;
