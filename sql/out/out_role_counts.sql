-- purpose: number of trajectories by the role of the largest component
-- grain: one row per study, model, pair type, path and role ('none': no response at all)
-- paper: section 6.2
CREATE OR REPLACE VIEW out_role_counts AS
WITH counts AS (
    SELECT study, model_id, pair_type, path, coalesce(role, 'none') AS role, count(*) AS row_count,
        sum(weight) AS weight
    FROM core_profiles
    GROUP BY ALL
),
totals AS (
    SELECT study, model_id, pair_type, path, sum(weight) AS total
    FROM counts
    GROUP BY study, model_id, pair_type, path
),
roles AS (SELECT unnest(['evidence', 'contradiction', 'fragility', 'none']) AS role)
SELECT
    study,
    model_id,
    pair_type,
    path,
    role,
    coalesce(row_count, 0)::BIGINT AS trajectory_count,
    coalesce(weight, 0) / total AS frac -- with the weights of pairs
FROM totals
CROSS JOIN roles
LEFT JOIN counts USING (study, model_id, pair_type, path, role)
ORDER BY study, model_id, pair_type, path, role;
