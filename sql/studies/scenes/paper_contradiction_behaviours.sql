-- purpose: changes of the two labels of a pair in the channel, by task
-- grain: one row per study, task, eta and behaviour
-- paper: section 5; appendix E, figure 9b (label behaviour)
-- curve: eta
-- Means over models and wall maps. Labels come from scores, not from E, C or F.
CREATE OR REPLACE VIEW paper_contradiction_behaviours AS
WITH means AS (
    SELECT study, task, eta,
        avg(COLUMNS(['preserve_share', 'collapse_share', 'swap_share', 'other_share']))
    FROM core_scene_mixtures
    GROUP BY study, task, eta
)
SELECT
    study,
    task, -- direct, gate or invert
    eta,
    statistic,
    estimate, -- share of pairs
    NULL::DOUBLE AS published,
    NULL::VARCHAR AS reason
FROM means
UNPIVOT (estimate FOR statistic IN (preserve_share, collapse_share, swap_share, other_share))
ORDER BY study, eta DESC, task,
    list_position(['preserve_share', 'swap_share', 'collapse_share', 'other_share'], statistic);
