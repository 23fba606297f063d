-- purpose: how many foregrounds, models and units a study of ImageNet-9 has
-- grain: one row per study of ImageNet-9 and statistic
-- inputs: paper_imagenet9_data, stg_runs, core_current_runs, core_units
-- paper: section 6; appendix F (splits, model zoo, magnitude-controlled evaluation)
-- usable_foregrounds are those of the archive, of which a study has all only without a split and a
-- limit. Units are models by foregrounds that take part in the benchmark; a scan has none.
CREATE OR REPLACE VIEW paper_imagenet9_design AS
WITH published (subject, statistic, published) AS (
    VALUES ('scan', 'usable_foregrounds', 4050), ('benchmark', 'usable_foregrounds', 4050),
        ('scan', 'foregrounds', 1644), ('benchmark', 'foregrounds', 768),
        ('scan', 'models', 72), ('benchmark', 'models', 32), ('benchmark', 'units', 24576)
),
limits AS (
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
)
SELECT
    study,
    subject, -- benchmark or scan, as paper_imagenet9_data says
    statistic,
    estimate, -- a count
    published::DOUBLE AS published,
    estimate - published AS difference,
    CASE WHEN estimate IS NULL THEN 'the study has a part of them' END AS reason
FROM (FROM counts UNPIVOT INCLUDE NULLS (
    estimate FOR statistic IN (usable_foregrounds, foregrounds, models, units)
))
JOIN published USING (subject, statistic)
ORDER BY study, statistic;
