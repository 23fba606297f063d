-- purpose: sums over the sources that every bootstrap replicate drew, of members of groupings
-- grain: one row per study, model, pair type, path, grouping and member
-- paper: appendix D.8 (statistical summaries)
-- rel names a relation with these columns, source_id, weight and four metrics. A place of the draws
-- is a source of the member, in the order of their names.
CREATE OR REPLACE MACRO breakdown_sums(rel, replicates, seed) AS TABLE
WITH sources AS (
    SELECT
        study, model_id, pair_type, path, grouping, member,
        row_number() OVER (
            PARTITION BY study, model_id, pair_type, path, grouping, member ORDER BY source_id
        ) - 1 AS position,
        sum(weight) AS weight,
        sum(weight * COLUMNS(['evidence', 'contradiction', 'fragility', 'abs_response']))
    FROM query_table(rel)
    GROUP BY study, model_id, pair_type, path, grouping, member, source_id
),
gathered AS (
    SELECT
        study, model_id, pair_type, path, grouping, member,
        count(*) AS source_count,
        list(position::INTEGER) AS positions,
        -- Lists that one GROUP BY makes without ORDER BY hold its rows in the same order.
        [list(weight), list(evidence), list(contradiction), list(fragility), list(abs_response)]
            AS columns
    FROM sources
    GROUP BY study, model_id, pair_type, path, grouping, member
)
SELECT
    * EXCLUDE (positions, columns),
    -- The weights, then evidence, contradiction, fragility and Abs; the sample before replicates.
    resampled_sums(source_count, [], replicates, seed, positions, columns) AS sums
FROM gathered;
