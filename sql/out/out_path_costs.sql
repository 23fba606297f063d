-- purpose: number of scores that each path needed of a model, and its share of them
-- grain: one row per study, model and path
-- paper: appendix C.2 (query complexity)
-- Paths share states, so that rows and seconds belong to all of them: only what each path stores can
-- be told apart. On its own it would need at most score_count rows: states that its pairs share
-- (the factual branch of an attribution, the scored contexts of a channel) make it fewer.
CREATE OR REPLACE VIEW out_path_costs AS
WITH scored AS (
    SELECT study, model_id, name AS path, sum(row_count)::BIGINT AS trajectory_count
    FROM core_run_units
    WHERE kind = 'score' AND is_made
    GROUP BY ALL
)
SELECT
    study,
    model_id,
    path,
    trajectory_count // repetition_count AS pair_count, -- of scored blocks
    repetition_count,
    len(t) AS stage_count,
    trajectory_count, -- quarantined ones included
    2 * trajectory_count * len(t) AS score_count, -- both branches at every stage
    score_count / sum(score_count) OVER (PARTITION BY study, model_id) AS score_frac
FROM scored
JOIN core_paths USING (study, path)
ORDER BY study, model_id, position;
