-- purpose: responses of contradiction models in a channel that sometimes swaps the wall context
-- grain: one row per study, model, wall map and eta
-- paper: section 5; appendix D (contradiction validation)
-- eta is the probability of the swapped context, from 0 to 1. A mean is (1 - eta) times that in the
-- endpoint's context plus eta times that in the swapped one, so nothing is scored again. Means are
-- over object maps.
-- FROM scene_mixtures([0, 0.25, 0.5])
CREATE OR REPLACE MACRO scene_mixtures(etas) AS TABLE
WITH channels AS (
    SELECT DISTINCT
        CASE
            WHEN eta BETWEEN 0 AND 1 THEN eta
            ELSE error('scene_mixtures: eta is ' || coalesce(eta::VARCHAR, 'NULL')
                || '; expected probabilities of the swapped context, from 0 to 1')
        END AS eta
    FROM (SELECT unnest(etas)::DOUBLE AS eta)
),
weighted AS (
    SELECT *, if(context = 'swapped', eta, 1 - eta) AS weight
    FROM core_scene_contexts
    CROSS JOIN channels
),
mixed AS (
    SELECT
        study, model_id, task, family, seed, wall_map, eta,
        -- Rounded so that equal means are ties in ranks.
        round(sum(weight * COLUMNS([
            'evidence', 'contradiction', 'fragility', 'sign_change_share', 'preserve_share',
            'collapse_share', 'swap_share', 'other_share'
        ])) / sum(weight), 12)
    FROM weighted
    GROUP BY study, model_id, task, family, seed, wall_map, eta
)
SELECT
    study,
    model_id,
    task, -- direct, gate or invert
    family,
    seed,
    wall_map,
    eta,
    evidence, -- score units, like the next columns up to net_response
    contradiction,
    fragility,
    evidence + contradiction + fragility AS abs_response,
    evidence - contradiction AS net_response,
    coalesce(contradiction / nullif(evidence + contradiction, 0), 0) AS opposed_fraction,
    sign_change_share, -- share of pairs that are active and change sign; the next are shares, too
    preserve_share,
    collapse_share,
    swap_share,
    other_share
FROM mixed;
