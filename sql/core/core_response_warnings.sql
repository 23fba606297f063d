-- purpose: warnings about pair types without a response, or with one only below epsilon
-- grain: one row per study, model and warning
-- A response up to 1e-9 counts as none, since rounding in batches may cause it. A control needs no
-- active pair.
CREATE OR REPLACE VIEW core_response_warnings AS
WITH cells AS (
    SELECT study, model_id, pair_type, path,
        bool_or(is_endpoint_active) AS has_active,
        max(abs_response) > 1e-9 AS has_response
    FROM core_profiles GROUP BY study, model_id, pair_type, path
),
named AS (
    SELECT cells.*, coalesce(display_name, pair_type) AS shown_name, expect,
        bool_or(has_active OR has_response) OVER (PARTITION BY cells.study, model_id, pair_type)
            AS is_moved
    FROM cells LEFT JOIN core_display_names AS names
        ON (names.study, kind, name) = (cells.study, 'pair_type', pair_type)
)
SELECT study, model_id, 'no_response' AS warning, NULL::BIGINT AS affected_count,
    'no score changes at any stage, so these changes cannot move the model'
    || if(bool_or(expect = 'control'), ', and a comparison with such a control shows nothing', '')
    || ': ' || array_to_string(list_sort(list_distinct(list(shown_name))), ', ')
    AS detail
FROM named WHERE NOT is_moved GROUP BY study, model_id
UNION ALL
SELECT study, model_id, 'no_active_pair', NULL,
    'no pair reaches epsilon, so all response is fragility: '
    || array_to_string(list_sort(list_distinct(list(shown_name))), ', ')
FROM named WHERE has_response AND NOT has_active AND expect IS DISTINCT FROM 'control' GROUP BY study, model_id;
