-- purpose: whether a study of ImageNet-9 has the data and models of the paper, as far as counts say
-- grain: one row per study whose current run reads ImageNet-9
-- inputs: stg_runs, core_current_runs, core_pairs, out_models
-- paper: section 6; appendix F
-- A study with behaviours is the paper's benchmark of units, any other its scan of models; each is
-- measured against its own counts. It cannot know what the photos show: nobody's digests of the
-- official files are here, so other photos in as many files pass. The benchmark takes 768 of its
-- split. The scan takes a whole split: ours are drawn by hash, and their sizes vary; those within
-- four standard deviations pass, the paper's 1,644 among them.
CREATE OR REPLACE VIEW paper_imagenet9_data AS
WITH official (subject, fewest, most, wanted, models) AS (
    VALUES ('benchmark', 768, 768, '768', 32), ('scan', 1496, 1744, '1496 to 1744', 72)
),
given AS (
    SELECT
        study,
        current_run.pairs_digest,
        coalesce(run.config ->> '$.data.split', 'all') AS data_split,
        -- A section of its own, or null, before it was true or false.
        if(coalesce(run.config ->> '$.behaviours', 'false') = 'false', 'scan', 'benchmark')
            AS subject
    FROM stg_runs AS run
    JOIN core_current_runs AS current_run USING (study, run_id)
    WHERE run.config ->> '$.data.adapter' = 'imagenet9'
),
counted AS (
    SELECT
        study,
        count(DISTINCT source_id) AS foreground_count,
        count(DISTINCT class_id) AS class_count,
        count(DISTINCT pair_type) AS pair_type_count
    FROM core_pairs
    GROUP BY study
),
zoo AS (SELECT study, count(*) AS model_count FROM out_models GROUP BY study)
SELECT
    study,
    pairs_digest,
    data_split, -- all, score, deep or outcome
    subject, -- benchmark or scan
    foreground_count, class_count, pair_type_count, model_count,
    foreground_count BETWEEN fewest AND most AND class_count = 9 AND pair_type_count = 2
        AND model_count = models AS is_official,
    CASE
        WHEN is_official
            THEN format('counts are those of the paper''s {}; contents are not compared', subject)
        ELSE format('unlike the paper''s {}: ', subject) || concat_ws(
            '; ',
            CASE WHEN foreground_count NOT BETWEEN fewest AND most
                THEN format('{} foregrounds, not {}', foreground_count, wanted) END,
            CASE WHEN class_count <> 9 THEN format('{} classes, not 9', class_count) END,
            CASE WHEN pair_type_count <> 2
                THEN format('{} pair types, not 2', pair_type_count) END,
            CASE WHEN model_count <> models
                THEN format('{} models, not {}', model_count, models) END
        )
    END AS why
FROM given JOIN official USING (subject) JOIN counted USING (study) JOIN zoo USING (study)
ORDER BY study;
