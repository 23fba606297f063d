-- purpose: how many scores each path needed of a model, and its share of them
-- grain: one row per study, model and path
-- inputs: core_shards, core_paths
-- paper: appendix C.2 (query complexity)
-- Paths share states, so that rows and seconds belong to all of them: only what each path stores can
-- be told apart. On its own it would need at most score_count rows: states that its pairs share
-- (the factual branch of an attribution, the scored contexts of a channel) make it fewer.
CREATE OR REPLACE VIEW out_path_costs AS
WITH scored AS (
    SELECT study, model_id, sum(pair_count)::BIGINT AS pair_count
    FROM core_shards
    WHERE is_scored
    GROUP BY study, model_id
),
counts AS (
    SELECT
        study,
        model_id,
        path,
        position,
        pair_count,
        repetition_count,
        len(t) AS stage_count,
        pair_count * repetition_count AS trajectory_count,
        2 * pair_count * repetition_count * len(t) AS score_count
    FROM scored
    JOIN core_paths USING (study)
)
SELECT
    study,
    model_id,
    path,
    pair_count, -- of scored shards
    repetition_count,
    stage_count,
    trajectory_count, -- quarantined ones included
    score_count, -- both branches at every stage
    score_count / sum(score_count) OVER (PARTITION BY study, model_id) AS score_frac
FROM counts
ORDER BY study, model_id, position;
