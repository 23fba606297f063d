-- purpose: stages increase from 0 to 1, and the first response is 0 on paths with a common start
-- grain: one row per trajectory and breach
-- paper: section 2
-- check_profiles_recompute compares the last stage with the profile's d.
WITH units AS (SELECT study, model_id, unit_key FROM core_run_units),
judged AS (
    SELECT
        trajectory.*,
        declared.has_common_start,
        len(t) >= 2 AND len(q_plus) = len(t) AND len(q_minus) = len(t) AS is_aligned,
        abs(t[1]) <= 1e-12 AND abs(t[-1] - 1) <= 1e-12
            AND list_min(list_transform(t[2:], lambda here, stage: here - t[stage])) > 0
            AS is_grid
    FROM (FROM stg_trajectories SEMI JOIN units USING (study, model_id, unit_key)) AS trajectory
    LEFT JOIN (SELECT study, path, has_common_start FROM core_paths) AS declared
        USING (study, path)
),
breaches AS (
    SELECT
        *,
        format('{}, {} and {} values', len(t), len(q_plus), len(q_minus)) AS found,
        't, q_plus and q_minus of one length, at least 2' AS expected
    FROM judged
    WHERE is_aligned IS NOT TRUE
    UNION ALL
    SELECT *, format('t = {}', t::VARCHAR), 'strictly increasing from 0 to 1'
    FROM judged
    WHERE is_aligned AND is_grid IS NOT TRUE
    UNION ALL
    SELECT
        *,
        format('r(0) = {}', q_plus[1] - q_minus[1]),
        'r(0) = 0: reveal() of the path gives both branches one state at stage 0; correct it, '
        || 'try `decaf check-plugin FILE`, then rename the path or remove it from the study, and '
        || 'run again'
    FROM judged
    WHERE is_aligned AND has_common_start AND (q_plus[1] = q_minus[1]) IS NOT TRUE
)
SELECT
    'check_stages_valid' AS check_name,
    study,
    model_id,
    concat_ws('/', pair_id, path, repetition) AS key,
    found,
    expected
FROM breaches;
