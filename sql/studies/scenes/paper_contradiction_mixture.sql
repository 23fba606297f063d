-- purpose: responses in a channel that swaps the wall context, by task and family
-- grain: one row per study, task, family (or all), eta and statistic
-- paper: section 5; appendix E, figure 9a (attenuation and inversion), sign changes
-- curve: eta
-- Means over models and wall maps; eta is the probability of the swapped context. Intervals
-- resample the seeds within each family, 2,000 times with seed 7301.
CREATE OR REPLACE VIEW paper_contradiction_mixture AS
WITH measured AS (
    FROM core_scene_mixtures
    UNPIVOT (mean FOR metric IN (
        evidence, contradiction, fragility, abs_response, net_response, opposed_fraction,
        sign_change_share
    ))
),
entries AS MATERIALIZED (
    SELECT
        {study: study, task: task, family: unnest([family, 'all']), eta: eta, metric: metric} AS g,
        family || ' ' || seed AS cluster, family AS stratum, mean AS x
    FROM measured
),
judged AS (
    SELECT unnest(g), g.metric AS statistic, * EXCLUDE (g, statistic, reason),
        g.task AS unit, g.family AS method, 'eta ' || g.eta AS part,
        replace(reason, 'cluster', 'model') AS reason
    FROM bootstrap_intervals('entries', 2000, 7301)
)
SELECT
    study,
    task, -- direct, gate or invert
    family,
    eta,
    statistic,
    estimate, -- score units; opposed_fraction and sign_change_share are shares
    lower_90, upper_90, lower_95, upper_95,
    published, -- NULL if the paper has no value
    difference,
    reason
FROM with_published('judged', 'scenes')
ORDER BY study, eta DESC, task, family = 'all' DESC, family, statistic;
