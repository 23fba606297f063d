-- purpose: Spearman correlation of vulnerability with margins over checkpoints
-- grain: one row per study of evidence, scope, margin and statistic
-- paper: section 5, figure 2a; appendix E (evidence across training trajectories)
-- Scope pooled is over all checkpoints. Scope inside trainings is the mean over trainings whose
-- vulnerability has a range of at least 0.05. Intervals resample whole trainings.
CREATE OR REPLACE VIEW paper_evidence_correlations AS
WITH points AS MATERIALIZED (
    SELECT study, trajectory, vulnerability, margin, score,
        max(vulnerability) OVER trained - min(vulnerability) OVER trained >= 0.05 AS is_moving
    FROM core_scene_checkpoints
    UNPIVOT (score FOR margin IN (
        evidence_margin, abs_margin, magnitude_margin, wall_evidence, net_margin
    ))
    WINDOW trained AS (PARTITION BY study, trajectory, margin)
),
pooled AS MATERIALIZED (
    SELECT {study: study, margin: margin} AS g, trajectory AS cluster, score AS x, vulnerability AS y
    FROM points
),
spearmans AS MATERIALIZED (FROM spearman_intervals('pooled', 500, 7301)),
inside AS (
    SELECT {study: study, margin: margin, trajectory: trajectory} AS g, score AS x,
        vulnerability AS y
    FROM points
    WHERE is_moving
),
trainings AS MATERIALIZED (
    SELECT {study: g.study, margin: g.margin} AS g, g.trajectory AS cluster, spearman AS x
    FROM spearman_by_group('inside')
),
means AS (FROM bootstrap_intervals('trainings', 500, 7301) WHERE statistic = 'mean'),
estimates AS (
    SELECT unnest(g), 'pooled' AS scope, 'rank_correlation' AS statistic, * EXCLUDE (g, entry_count)
    FROM spearmans
    UNION ALL BY NAME
    -- The paper's interval has level 90 %.
    SELECT unnest(g), 'pooled' AS scope,
        unnest(['checkpoints', 'lower_90', 'upper_90']) AS statistic,
        unnest([entry_count, lower_90, upper_90]) AS estimate
    FROM spearmans
    WHERE g.margin = 'evidence_margin'
    UNION ALL BY NAME
    SELECT unnest(g), 'inside trainings' AS scope, 'rank_correlation' AS statistic,
        means.* EXCLUDE (g, statistic, reason), CASE
            WHEN means.statistic IS NULL THEN 'no training moves by 0.05'
            WHEN means.estimate IS NULL THEN 'all values of one side are equal'
            ELSE replace(means.reason, 'cluster', 'training') END AS reason
    FROM spearmans LEFT JOIN means USING (g)
    UNION ALL BY NAME
    SELECT unnest(g), 'inside trainings' AS scope,
        unnest(['moving_trainings', 'agreeing_trainings']) AS statistic,
        unnest([count(cluster), count(*) FILTER (x > 0)])::DOUBLE AS estimate
    FROM spearmans LEFT JOIN trainings USING (g) GROUP BY g
),
judged AS (SELECT *, scope AS unit, margin AS part FROM estimates)
SELECT study, scope, margin, statistic, estimate, lower_90, upper_90, lower_95, upper_95,
    published, difference, reason
FROM with_published('judged', 'scenes')
ORDER BY study, scope = 'inside trainings', margin <> 'evidence_margin', margin,
    statistic <> 'rank_correlation', statistic;
