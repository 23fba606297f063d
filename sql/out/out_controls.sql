-- purpose: response to each change minus the response to the control change, same sources
-- grain: one row per study, model, pair type and path, of studies with a control pair type
-- Pair types with `expect: control` make an unrelated change of similar size. Of several controls,
-- the one with the largest mean Abs of the model and path counts. If the interval of the paired
-- difference includes 0 or lies below it, the model responds to the control as much
-- (is_as_for_control).
CREATE OR REPLACE VIEW out_controls AS
WITH means AS (
    SELECT
        study, model_id, path, source_id, pair_type, names.expect = 'control' AS is_control,
        weighted_mean(abs_response, weight) AS abs_response,
        sum(weight) AS weight
    FROM core_profiles
    JOIN (SELECT study, name AS pair_type, expect FROM core_display_names WHERE kind = 'pair_type')
        AS names USING (study, pair_type)
    GROUP BY ALL
),
controls AS (
    SELECT study, model_id, path, pair_type
    FROM means
    WHERE is_control
    GROUP BY study, model_id, path, pair_type
    QUALIFY row_number() OVER (
        PARTITION BY study, model_id, path
        ORDER BY weighted_mean(abs_response, weight) DESC, pair_type) = 1
),
entries AS (
    SELECT
        {study: study, model_id: model_id, pair_type: means.pair_type, path: path,
            control: controls.pair_type} AS g,
        source_id AS cluster,
        means.abs_response AS x,
        on_control.abs_response AS y,
        means.weight
    FROM means
    JOIN controls USING (study, model_id, path)
    JOIN means AS on_control USING (study, model_id, path, source_id)
    WHERE NOT means.is_control AND on_control.pair_type = controls.pair_type
),
sides AS (
    SELECT g, weighted_mean(x, weight) AS abs_response, weighted_mean(y, weight) AS control_response
    FROM entries
    GROUP BY g
)
SELECT
    g.study, g.model_id, g.pair_type, g.path,
    g.control, -- pair type
    sides.abs_response, -- score units, over sources with a control, like the next columns
    sides.control_response,
    paired.estimate AS difference,
    paired.cluster_count AS source_count,
    CASE WHEN source_count >= 5 THEN paired.lower_limit END AS lower_95, -- NULL below 5 sources
    CASE WHEN source_count >= 5 THEN paired.upper_limit END AS upper_95,
    lower_95 <= 0 AS is_as_for_control -- NULL below 5 sources
FROM sides
JOIN bootstrap_by_group('entries', 500, 91702, [0.95]) AS paired USING (g)
WHERE paired.statistic = 'difference'
ORDER BY ALL;
