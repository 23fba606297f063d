-- purpose: profiles of the 40 members per grouping with the worst responses
-- Each model is on its path with the largest Abs for the pair type, as in its finding.
-- The worst response is the largest, or the smallest if the pair type should matter.
WITH larger AS (
    SELECT model_id, pair_type, path FROM out_responses
    WHERE study = $study
    QUALIFY row_number() OVER (
        PARTITION BY model_id, pair_type ORDER BY abs_response DESC, path_position
    ) = 1
),
chosen AS (FROM core_profiles SEMI JOIN larger USING (model_id, pair_type, path) WHERE study = $study),
found AS (
    SELECT found.*,
        if(expect = 'should_matter', 1, -1)
            * max(estimate) FILTER (metric = 'abs_response') OVER line AS goodness
    FROM breakdowns_of('chosen', 500, 91702) AS found
    LEFT JOIN core_display_names AS names
        ON names.study = found.study AND kind = 'pair_type' AND name = pair_type
    WINDOW line AS (PARTITION BY pair_type, grouping, model_id, member)
),
placed AS (
    SELECT *, dense_rank() OVER (PARTITION BY pair_type, grouping, model_id ORDER BY goodness, member)
        AS place
    FROM found
)
SELECT pair_type, grouping, model_id, member, metric, pair_count, source_count,
       estimate, lower_95, upper_95, p10, p50, p90, path
FROM placed
QUALIFY dense_rank() OVER (
    PARTITION BY pair_type, grouping ORDER BY place, goodness, model_id, member
) <= 40
ORDER BY pair_type, grouping, goodness, model_id, member, metric DESC
