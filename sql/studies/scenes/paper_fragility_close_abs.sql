-- purpose: two models of nearly equal Abs, one with mostly evidence, one with mostly fragility
-- grain: one row per study, role and statistic
-- paper: appendix E, figure 8b (similar magnitude, different roles)
-- Compares a model and factor with another model and a factor, on the study's first Gaussian path,
-- and takes the two with the smallest difference of Abs. The role is the largest component.
CREATE OR REPLACE VIEW paper_fragility_close_abs AS
WITH units AS MATERIALIZED (
    SELECT unit.*, variant, family, seed,
        CASE greatest(evidence, contradiction, fragility) WHEN evidence THEN 'evidence'
            WHEN fragility THEN 'fragility' ELSE 'contradiction' END AS role
    FROM core_scene_units AS unit
    JOIN core_scene_models USING (study, model_id)
    WHERE experiment = 'fragility' AND is_primary AND measure = 'alpha' AND abs_response > 0
),
closest AS (
    SELECT unnest([one, other], recursive := true)
    FROM (
        SELECT one, other
        FROM units AS one
        JOIN units AS other USING (study)
        WHERE one.role = 'evidence' AND other.role = 'fragility' AND one.model_id <> other.model_id
        QUALIFY row_number() OVER (
            PARTITION BY one.study ORDER BY abs(one.abs_response - other.abs_response),
                one.model_id, one.factor, other.model_id, other.factor
        ) = 1
    )
)
SELECT
    study,
    role,
    model_id,
    variant,
    family,
    seed,
    factor,
    statistic,
    estimate, -- score units
    NULL::DOUBLE AS published,
    NULL::VARCHAR AS reason
FROM (
    SELECT study, role, model_id, variant, family, seed, factor,
        evidence, contradiction, fragility, abs_response
    FROM closest
)
UNPIVOT (estimate FOR statistic IN (evidence, contradiction, fragility, abs_response))
ORDER BY study, role;
