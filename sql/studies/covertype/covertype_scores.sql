-- purpose: scores of every method for every behaviour of classifiers of Covertype
-- grain: one row per row of rel, method and label
-- paper: appendix I (complete behavior alignment; fixed semantic readout)
-- rel names a relation with the columns of core_covertype_outcomes, which stay. DECAF scores
-- evidence by E, contradiction by C and fragility by F; another method has one score for all three
-- labels. The score of permutations is the absolute difference between both contexts, that of
-- interactions the mean of both.
-- FROM covertype_scores('my_models')
CREATE OR REPLACE MACRO covertype_scores(rel) AS TABLE
WITH models AS MATERIALIZED (FROM query_table(rel)),
measured AS (
    SELECT study, model_id, method, score, reason
    FROM core_baselines
    WHERE component IN ('score', 'mean')
    UNION ALL
    SELECT
        study, model_id, method,
        abs(any_value(score) FILTER (component = 'context_plus')
            - any_value(score) FILTER (component = 'context_minus')),
        any_value(reason)
    FROM core_baselines
    WHERE component IN ('context_plus', 'context_minus')
    GROUP BY study, model_id, method
),
planned AS (SELECT DISTINCT study, method FROM measured),
scored AS (
    SELECT
        *,
        unnest([
            {method: 'DECAF', scores: [evidence, contradiction, fragility]},
            {method: 'Abs', scores: [abs_response, abs_response, abs_response]},
            {method: 'M', scores: [endpoint_magnitude, endpoint_magnitude, endpoint_magnitude]},
            {method: 'Net', scores: [net_response, net_response, net_response]},
            {method: 'SignFlip', scores: [sign_flip_rate, sign_flip_rate, sign_flip_rate]},
            {method: 'OppMass', scores: [opposed_mass, opposed_mass, opposed_mass]}
        ], recursive := true),
        'no endpoint-active row' AS reason
    FROM models
    UNION ALL BY NAME
    SELECT models.*, method, [score, score, score] AS scores,
        coalesce(reason, 'not planned for this model') AS reason
    FROM models
    JOIN planned USING (study)
    LEFT JOIN measured USING (study, model_id, method)
)
SELECT
    * EXCLUDE (scores, reason),
    unnest(['evidence', 'contradiction', 'fragility']) AS label,
    unnest(scores) AS score, -- score units, or the unit of the baseline
    CASE WHEN score IS NULL THEN reason END AS reason -- why the score is NULL
FROM scored;
