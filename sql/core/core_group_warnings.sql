-- purpose: warnings about limits that the mean over all pairs keeps, and a group of pairs does not
-- grain: one row per study, model and pair type
-- Groups are those of `groups:`, of 5 sources or more; intervals of Abs or M are as in out_breakdowns.
CREATE OR REPLACE VIEW core_group_warnings AS
WITH responses AS (
    SELECT study, run_id, model_id, pair_type, pair_id, source_id, path, weight,
        unnest(['abs_response', 'endpoint_magnitude']) AS metric,
        unnest([abs_response, endpoint_magnitude]) AS response
    FROM core_profiles
    SEMI JOIN core_response_limits USING (study, pair_type)
    ANTI JOIN out_stops USING (study, model_id)
),
cells AS (
    SELECT *, max(mean) OVER (PARTITION BY study, model_id, pair_type) AS largest
    FROM (SELECT study, model_id, pair_type, path, metric, weighted_mean(response, weight) AS mean
        FROM responses GROUP BY ALL)
),
kept AS (
    SELECT study, cells.model_id, pair_type, cells.path, cells.metric, min(response_limit) AS response_limit,
        count(limits.model_id) > 0 AS is_gated
    FROM cells JOIN core_response_limits AS limits USING (study, pair_type)
    WHERE if(limits.model_id IS NULL, largest, mean) <= response_limit
        AND coalesce(limits.model_id = cells.model_id, true)
        AND coalesce(limits.path = cells.path, true) AND coalesce(limits.metric = cells.metric, true)
    GROUP BY ALL
),
gathered AS (
    SELECT study, model_id, pair_type, path, metric, response_limit, is_gated, grouping, member,
        dense_ranks(list(place)) AS positions, list(weight) AS weights, list(weight * response) AS weighted
    FROM responses
    JOIN kept USING (study, model_id, pair_type, path, metric)
    JOIN stg_runs USING (study, run_id) JOIN stg_pair_groups USING (study, pairs_digest, pair_id)
    JOIN core_source_order USING (study, source_id)
    GROUP BY ALL HAVING weighted_mean(response, weight) > response_limit AND count(DISTINCT place) >= 5
),
resampled AS (
    SELECT *, limits_of_member(metric, mean, NULL) AS bounds
    FROM (SELECT *, mean_of_member(sums[2], sums[1], NULL) AS mean FROM (SELECT *, resampled_sums(
        list_max(positions) + 1, [], 500, 91702, positions, [weights, weighted]) AS sums FROM gathered))
),
above AS (
    FROM resampled WHERE bounds.lower > response_limit
    QUALIFY row_number() OVER (PARTITION BY study, model_id, pair_type, grouping, member
        ORDER BY mean.estimate DESC, metric, path) = 1
),
worded AS (
    SELECT study, model_id, pair_type, min(response_limit) AS response_limit,
        bool_or(is_gated) AS is_gated, count(*) AS group_count,
        list(format('{} ({}): {} {}', member, grouping, if(metric = 'abs_response', 'Abs', 'M'),
            format_score(mean.estimate)) || format_interval(bounds.lower, bounds.upper, '')
            ORDER BY mean.estimate DESC, grouping, member) AS words
    FROM above GROUP BY ALL
)
SELECT worded.study, model_id, 'groups_above_limit' AS warning, NULL::BIGINT AS affected_count,
    format('above the limit {} of {} in groups of pairs, unlike the mean over all: {}{}',
        format_limit(response_limit), display_name, array_to_string(words[:3], '; '),
        if(group_count > 3, format('; and {} more', group_count - 3), '')) AS detail,
    is_gated -- by a gate; core_decisions has the warnings about other limits
FROM worded
JOIN core_display_names AS names ON (names.study, kind, name) = (worded.study, 'pair_type', pair_type);
