-- purpose: mean profile of every model by class, split and kind of input, with spread and interval
-- grain: one row per study, model, pair type, path, grouping, member of the grouping and metric
-- paper: section 6; appendix D.8 (statistical summaries)
-- Only groupings that divide the pairs of a type have rows. Intervals come from a percentile
-- bootstrap over the sources of a member (500 replicates), those of accuracy from Wilson's method.
-- Intervals are NULL for a model that stopped early.
CREATE OR REPLACE VIEW out_breakdowns AS
WITH profiles AS (FROM core_profiles),
stopped AS (SELECT (study, model_id) FROM out_stops)
SELECT * REPLACE (
    if((study, model_id) IN (FROM stopped), NULL, lower_95) AS lower_95,
    if((study, model_id) IN (FROM stopped), NULL, upper_95) AS upper_95,
    if((study, model_id) IN (FROM stopped), 'the model stopped early', reason) AS reason
)
FROM breakdowns_of('profiles', 500, 91702)
ORDER BY study, pair_type, path, grouping, member, model_id, metric;
