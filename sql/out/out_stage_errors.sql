-- purpose: change of the mean components when every second stage is left out
-- grain: one row per study, model, pair type, path with an odd number of stages, and metric
-- paper: section 3; appendix C.1; appendix D.8 (statistical summaries)
-- change is the mean over all stages minus the mean over every second one, with its interval;
-- mean_size is the mean absolute change of a trajectory. docs/limits.md states how well they bound
-- errors.
CREATE OR REPLACE VIEW out_stage_errors AS
WITH gathered AS (
    SELECT
        study, model_id, pair_type, path, stage_count,
        count(*) AS trajectory_count,
        -- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
        dense_ranks(list(place)) AS positions,
        [
            list(weight), list(weight * evidence), list(weight * contradiction),
            list(weight * fragility), list(weight * abs_response)
        ] AS columns,
        weighted_mean(abs(evidence), weight) AS evidence,
        weighted_mean(abs(contradiction), weight) AS contradiction,
        weighted_mean(abs(fragility), weight) AS fragility,
        weighted_mean(abs(abs_response), weight) AS abs_response
    FROM core_stage_errors
    JOIN core_source_order USING (study, source_id)
    GROUP BY study, model_id, pair_type, path, stage_count
),
resampled AS (
    SELECT
        * EXCLUDE (positions, columns),
        list_max(positions) + 1 AS source_count,
        resampled_sums(source_count, [], 500, 91702, positions, columns) AS sums
    FROM gathered
),
means AS (
    SELECT
        study, model_id, pair_type, path, stage_count, trajectory_count, source_count,
        mean_of_member(sums[2], sums[1], evidence) AS evidence,
        mean_of_member(sums[3], sums[1], contradiction) AS contradiction,
        mean_of_member(sums[4], sums[1], fragility) AS fragility,
        mean_of_member(sums[5], sums[1], abs_response) AS abs_response
    FROM resampled
)
SELECT
    study, model_id, pair_type, path, metric,
    stage_count, -- all stages
    trajectory_count,
    mean.estimate AS change, -- score units, like the next columns
    CASE WHEN source_count > 1 THEN limit_at(mean.replicates, (1 - 0.95::DOUBLE) / 2) END
        AS lower_95, -- NULL for a single source
    CASE WHEN source_count > 1 THEN limit_at(mean.replicates, 1 - (1 - 0.95::DOUBLE) / 2) END
        AS upper_95,
    mean.quantiles AS mean_size
FROM means
UNPIVOT (mean FOR metric IN (evidence, contradiction, fragility, abs_response))
ORDER BY ALL;
