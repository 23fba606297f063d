-- purpose: whether studies of a controlled experiment have the paper's data, as far as counts say
-- grain: one row per study whose current run is one of the experiment
-- paper: appendix D
-- experiment_of is base, evidence, fragility or contradiction. Models are always trained anew.
-- FROM scene_data('contradiction')
CREATE OR REPLACE MACRO scene_data(experiment_of) AS TABLE
WITH models AS (
    SELECT study, run_id, count(*) AS model_count
    FROM core_scene_models
    WHERE experiment = experiment_of
    GROUP BY study, run_id
),
sources AS (
    SELECT study, count(DISTINCT source_id) AS source_count
    FROM core_pairs SEMI JOIN models USING (study)
    GROUP BY study
),
counted AS (
    SELECT study, current_run.pairs_digest, model_count, source_count,
        coalesce(run.config ->> '$.data.images', 'rendered') = 'rendered' AS is_rendered,
        published_value('scenes', experiment_of, 'models')::BIGINT AS papers_models,
        published_value('scenes', experiment_of, 'sources')::BIGINT AS papers_sources
    FROM models
    JOIN core_current_runs AS current_run USING (study, run_id)
    JOIN stg_runs AS run USING (study, run_id)
    LEFT JOIN sources USING (study)
),
judged AS (
    SELECT *, concat_ws('; ',
        if(is_rendered, 'images of decaf''s renderer, not 3D Shapes', NULL),
        if(model_count <> papers_models, format('{} models, not {}', model_count, papers_models),
            NULL),
        if(source_count IS DISTINCT FROM papers_sources,
            format('{:,} scenes, not {:,}', coalesce(source_count, 0), papers_sources), NULL)
    ) AS differences
    FROM counted
)
SELECT
    study,
    pairs_digest,
    is_rendered,
    model_count,
    source_count,
    differences = '' AS is_official,
    if(is_official, 'images of 3D Shapes in the paper''s counts; models are trained anew',
        differences) AS why
FROM judged;
