-- purpose: profiles on the first path by member of a grouping, the worst first; 40 per grouping
-- The worst response is the largest, or the smallest if the pair type should matter.
WITH ways AS (
    SELECT name AS path FROM core_display_names
    WHERE study = ? AND kind = 'path'
    QUALIFY row_number() OVER (ORDER BY position, name) = 1
),
chosen AS (FROM core_profiles SEMI JOIN ways USING (path) WHERE study = ?),
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
