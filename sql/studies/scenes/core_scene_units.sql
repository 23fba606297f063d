-- purpose: mean responses of every model on scenes to every factor, on every Gaussian path
-- grain: one row per study, model, factor, Gaussian path and stage measure
-- paper: appendix D; appendix E (complete decomposition atlas)
-- Means over pairs, maps of the factor and noise seeds. The measure is alpha, as in profiles, or
-- information: stages weighted by the information that the path reveals, if weights are stored.
-- alpha reads profiles, information reads trajectories, which is slower: filter by measure, and by
-- is_primary or path if you need one path.
CREATE OR REPLACE VIEW core_scene_units AS
WITH responses AS (
    SELECT
        study, model_id, path, pair_type, is_primary, geometry, pixel_share, epsilon,
        q_plus[-1] - q_minus[-1] AS d,
        response_of(q_plus, q_minus) AS response,
        rising_mass_of(response, information_weights) AS rising,
        falling_mass_of(response, information_weights) AS falling
    FROM core_trajectories
    JOIN core_current_runs USING (study, run_id)
    JOIN core_scene_paths USING (study, path)
    WHERE information_weights IS NOT NULL
),
-- Every step keeps the properties of the path, so a filter on them applies before rows are read.
sums AS (
    SELECT
        study, model_id, path, pair_type, is_primary, geometry, pixel_share, 'alpha' AS measure,
        count(*) AS trajectory_count,
        sum(endpoint_magnitude) AS endpoint_magnitude, sum(evidence) AS evidence,
        sum(contradiction) AS contradiction, sum(fragility) AS fragility,
        sum(abs_response) AS abs_response
    FROM core_profiles
    JOIN core_scene_paths USING (study, path)
    GROUP BY study, model_id, path, pair_type, is_primary, geometry, pixel_share
    UNION ALL
    SELECT
        study, model_id, path, pair_type, is_primary, geometry, pixel_share, 'information',
        count(*),
        sum(abs(d)), sum(evidence_at(d, rising, falling, epsilon)),
        sum(contradiction_at(d, rising, falling, epsilon)),
        sum(fragility_at(d, rising, falling, epsilon)), sum(rising + falling)
    FROM responses
    GROUP BY study, model_id, path, pair_type, is_primary, geometry, pixel_share
),
means AS (
    SELECT
        study, model_id, path, scene_factor(pair_type) AS factor, measure,
        is_primary, geometry, pixel_share,
        sum(trajectory_count)::BIGINT AS trajectory_count,
        sum(COLUMNS([
            'endpoint_magnitude', 'evidence', 'contradiction', 'fragility', 'abs_response'
        ])) / sum(trajectory_count)
    FROM sums
    GROUP BY study, model_id, path, factor, measure, is_primary, geometry, pixel_share
)
SELECT
    means.*, -- score units; is_primary marks the study's first path, pixel_share is lambda
    active_frac -- share of endpoint pairs that are active
FROM means
SEMI JOIN core_scene_models USING (study, model_id)
LEFT JOIN core_scene_activity USING (study, model_id, factor);
