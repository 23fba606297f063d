-- purpose: number of scores that each path needed, and its share of all scores of the model
-- grain: one row per study, model and path
-- paper: appendix C.2 (query complexity)
-- Paths share states, so rows and seconds belong to all paths together; only stored scores belong
-- to one path. Without other paths, a path would need at most score_count rows, and fewer if its
-- pairs share states.
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
    trajectory_count, -- including quarantined ones
    2 * trajectory_count * len(t) AS score_count, -- both branches at every stage
    score_count / sum(score_count) OVER (PARTITION BY study, model_id) AS score_frac
FROM scored
JOIN core_paths USING (study, path)
ORDER BY study, model_id, position;
