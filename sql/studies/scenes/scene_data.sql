-- purpose: test whether a controlled study has the images and the sizes of the paper
-- grain: one row per study of the experiment
-- paper: appendix D
-- wanted is an experiment of core_scene_models. A remark of the run names the source of images.
-- FROM scene_data('base')
CREATE OR REPLACE MACRO scene_data(wanted) AS TABLE
WITH trained AS (
    SELECT study, run_id, count(DISTINCT trajectory) AS training_count
    FROM core_scene_models
    WHERE experiment = wanted
    GROUP BY study, run_id
),
audited AS (
    SELECT study, count(DISTINCT source_id) AS source_count
    FROM core_pairs SEMI JOIN trained USING (study)
    GROUP BY study
),
said AS (
    SELECT study, run_id, bool_or(remark = 'images: 3D Shapes, the official file') AS is_official
    FROM stg_run_remarks
    GROUP BY study, run_id
),
judged AS (
    SELECT
        *,
        CASE
            WHEN coalesce(run.config ->> '$.data.images', 'rendered') = 'rendered' THEN 'rendered'
            WHEN said.is_official THEN '3D Shapes'
            ELSE 'another file'
        END AS images,
        list_filter([
            {what: 'trainings', counted: training_count,
                papers: published_value('scenes', wanted, 'trainings')::BIGINT},
            {what: 'sources', counted: source_count,
                papers: published_value('scenes', wanted, 'sources')::BIGINT}
        ], lambda one: one.counted <> one.papers) AS differences
    FROM trained JOIN audited USING (study)
    JOIN stg_runs AS run USING (study, run_id)
    LEFT JOIN said USING (study, run_id)
)
SELECT
    study,
    pairs_digest, -- of the audited inputs
    images, -- 3D Shapes, another file, or rendered
    training_count, -- a training may have several audited epochs
    source_count,
    images = '3D Shapes' AND len(differences) = 0 AS is_official,
    concat_ws('; ',
        CASE images
            WHEN 'rendered' THEN 'images by decaf''s renderer, not 3D Shapes'
            WHEN '3D Shapes' THEN 'images of 3D Shapes'
            ELSE 'images of another file than 3D Shapes'
        END,
        if(len(differences) = 0, 'as many trainings and sources as the paper''s', NULL),
        list_aggregate(list_transform(differences, lambda one:
            format('{:,} {}, not {:,}', one.counted, one.what, one.papers)
        ), 'string_agg', '; ')
    ) AS why
FROM judged
ORDER BY study;
