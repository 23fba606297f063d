-- purpose: change of the factor's effect in the alternate context, computed from four scores
-- grain: one row per study and model of core_covertype_models with a trajectory
-- paper: appendix I (setup and operational outcomes)
-- d is the effect in the endpoint's context, a in the alternate context. An effect is preserved if
-- sign(d) a > change, inverted if sign(d) a < -change, and collapsed if |a| <= change; otherwise
-- d = 0. change_rate counts rows whose own context is the alternate one and whose score crosses 0.5
-- with the factor; null rows are those with |d| below the run's epsilon.
-- FROM context_behaviours(0.02)
CREATE OR REPLACE MACRO context_behaviours(change) AS TABLE
WITH given AS MATERIALIZED (
    SELECT study, model_id, module, seed, path, epsilon,
        dense_rank() OVER (ORDER BY study, module, seed) AS stream
    FROM core_covertype_models JOIN core_current_runs USING (study, run_id)
),
-- Pairs of rows whose own context is the alternate one; a short key makes the join faster.
alternates AS MATERIALIZED (
    SELECT stream, pair_id
    FROM core_factual_contexts
    JOIN core_pairs USING (study, source_id)
    JOIN (SELECT DISTINCT study, module, seed, stream FROM given) USING (study, module, seed)
    WHERE context = -1
),
effects AS (
    SELECT study, model_id, endpoint_effect AS d, swapped_effect AS a,
        is_active_at(d, epsilon) AS is_active,
        sign(d) * a AS v,
        is_swapped_changed AS is_changed,
        alternates.stream IS NOT NULL AS is_alternate
    FROM core_context_effects
    JOIN given USING (study, model_id, path)
    LEFT JOIN alternates USING (stream, pair_id)
),
counts AS (
    SELECT study, model_id, count(*) AS row_count,
        count(*) FILTER (is_active) AS active_count,
        avg((v > change::DOUBLE)::DOUBLE) AS preserve_rate,
        avg((abs(a) <= change::DOUBLE)::DOUBLE) AS collapse_rate,
        avg((v < -change::DOUBLE)::DOUBLE) AS invert_rate,
        avg((d = 0 AND abs(a) > change::DOUBLE)::DOUBLE) AS other_rate,
        avg((v < 0)::DOUBLE) FILTER (is_active) AS sign_flip_rate,
        count(*) FILTER (is_alternate) AS alternate_count,
        count(*) FILTER (is_alternate AND NOT is_active) AS null_count,
        avg(is_changed::DOUBLE) FILTER (is_alternate) AS change_rate,
        avg(is_changed::DOUBLE) FILTER (is_alternate AND NOT is_active) AS null_change_rate,
        avg(abs(a)) FILTER (is_alternate AND NOT is_active) AS null_effect
    FROM effects
    GROUP BY study, model_id
)
SELECT
    * EXCLUDE (active_count),
    active_count / row_count AS active_frac,
    CASE
        WHEN alternate_count = 0 THEN 'no row is known to have the alternate context'
        WHEN null_count = 0 THEN 'no inactive row has the alternate context'
    END AS null_reason -- why null_change_rate and null_effect are NULL
FROM counts;
