-- purpose: test whether a study of ImageNet-9 has the data and models of the paper, by counts
-- grain: one row per study whose current run reads ImageNet-9
-- paper: section 6; appendix F
-- A study with behaviours is compared with the paper's benchmark, any other study with its scan of
-- models. The photos are not compared, since decaf has no digests of the official files. The scan
-- uses a whole split. Our splits are drawn by hash; their sizes pass within four standard
-- deviations of the paper's.
CREATE OR REPLACE VIEW paper_imagenet9_data AS
WITH given AS (
    SELECT
        study,
        current_run.pairs_digest,
        coalesce(run.config ->> '$.data.split', 'all') AS data_split,
        if(run.config ->> '$.labels.kind' = 'behaviours', 'benchmark', 'scan') AS subject
    FROM stg_runs AS run
    JOIN core_current_runs AS current_run USING (study, run_id)
    WHERE run.config ->> '$.data.adapter' = 'imagenet9'
),
counted AS (
    SELECT study, count(DISTINCT source_id) AS foreground_count,
        count(DISTINCT class_id) AS class_count, count(DISTINCT pair_type) AS pair_type_count
    FROM core_pairs GROUP BY study
),
zoo AS (SELECT study, count(*) AS model_count FROM out_models GROUP BY study),
papers AS (
    SELECT unit AS subject, coalesce(lower_95, value)::BIGINT AS fewest,
        coalesce(upper_95, value)::BIGINT AS most,
        published_value('imagenet9', foregrounds.unit, 'models')::BIGINT AS zoo_size
    FROM core_published AS foregrounds
    WHERE study = 'imagenet9' AND statistic = 'foregrounds'
),
judged AS (
    SELECT *, list_filter([
        {what: 'foregrounds', counted: foreground_count, fewest: fewest, most: most},
        {what: 'classes', counted: class_count, fewest: 9, most: 9},
        {what: 'pair types', counted: pair_type_count, fewest: 2, most: 2},
        {what: 'models', counted: model_count, fewest: zoo_size, most: zoo_size}
    ], lambda one: one.counted NOT BETWEEN one.fewest AND one.most) AS differences
    FROM given JOIN papers USING (subject) JOIN counted USING (study) JOIN zoo USING (study)
)
SELECT
    study,
    pairs_digest,
    data_split, -- all, score, deep or outcome
    subject, -- benchmark or scan
    foreground_count, class_count, pair_type_count, model_count,
    len(differences) = 0 AS is_official,
    if(is_official,
        format('counts are those of the paper''s {}; contents are not compared', subject),
        format('unlike the paper''s {}: ', subject) || list_aggregate(list_transform(
            differences, lambda one: format('{} {}, not {}{}', one.counted, one.what,
                if(one.fewest = one.most, '', one.fewest || ' to '), one.most)
        ), 'string_agg', '; ')) AS why
FROM judged
ORDER BY study;
