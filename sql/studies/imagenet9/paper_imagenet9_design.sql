-- purpose: number of foregrounds, models and cases of a study of ImageNet-9
-- grain: one row per study of ImageNet-9 and statistic
-- paper: section 6; appendix F (splits, model zoo, magnitude-controlled evaluation)
-- usable_foregrounds are those of the archive; a study has them all if it sets neither split nor
-- limit. Units are cases of the benchmark, a model on a foreground; a scan has none.
CREATE OR REPLACE VIEW paper_imagenet9_design AS
WITH limits AS (
    SELECT study, run.config ->> '$.data.sources' AS foreground_limit
    FROM stg_runs AS run
    JOIN core_current_runs USING (study, run_id)
),
units AS (
    SELECT study, count(*) FILTER (reason IS NULL) AS unit_count FROM core_units GROUP BY study
),
counts AS (
    SELECT
        study, subject,
        CASE WHEN data_split = 'all' AND foreground_limit IS NULL THEN foreground_count END::DOUBLE
            AS usable_foregrounds,
        foreground_count::DOUBLE AS foregrounds,
        model_count::DOUBLE AS models,
        coalesce(unit_count, 0)::DOUBLE AS units
    FROM paper_imagenet9_data
    JOIN limits USING (study)
    LEFT JOIN units USING (study)
),
estimates AS (
    SELECT *, subject AS unit
    FROM counts
    UNPIVOT INCLUDE NULLS (
        estimate FOR statistic IN (usable_foregrounds, foregrounds, models, units)
    )
    WHERE subject = 'benchmark' OR statistic <> 'units'
)
SELECT
    study,
    subject, -- benchmark or scan, from paper_imagenet9_data
    statistic,
    estimate, -- a count
    published,
    difference,
    CASE WHEN estimate IS NULL THEN 'the study has a part of them' END AS reason
FROM with_published('estimates', 'imagenet9')
ORDER BY study, statistic;
