-- purpose: numbers of ImageNet-9 studies for the values of the paper
-- grain: one row per study and value of the paper
-- paper: section 6; appendix F
-- The paper's patch order is the first one. Published numbers of calls hold for any data.
CREATE OR REPLACE VIEW core_imagenet9_comparisons AS
WITH numbers AS (
    SELECT study, method, statistic, estimate, reason, true AS is_of_any_data
    FROM paper_imagenet9_calls
    UNION ALL BY NAME
    SELECT study, subject AS unit, statistic, estimate, reason FROM paper_imagenet9_design
    UNION ALL BY NAME
    SELECT study, method, label AS part, statistic, estimate, lower_95, upper_95, reason
    FROM paper_imagenet9_semantics
    UNION ALL BY NAME
    SELECT study, method, part, statistic, estimate, lower_95, upper_95, reason
    FROM paper_imagenet9_bins
    UNION ALL BY NAME
    SELECT study, 'matched pairs' AS unit, method, statistic, estimate, lower_95, upper_95, reason
    FROM paper_imagenet9_roles
    UNION ALL BY NAME
    SELECT study, probe AS unit, representation AS method, label AS part, 'auroc' AS statistic,
        estimate, lower_95, upper_95, reason
    FROM paper_imagenet9_families
    UNION ALL BY NAME
    SELECT study, pair_type AS unit, protocol AS method, metric AS part, statistic, estimate,
        lower_95, upper_95, reason, 'scan' AS subject_of
    FROM (
        SELECT *, 'ratio' AS statistic FROM paper_imagenet9_protocol
        UNION ALL BY NAME
        SELECT *, 'rank_correlation' AS statistic FROM paper_imagenet9_rank_transfer
    )
    JOIN core_protocol_paths AS patches USING (study)
    WHERE path_b = patches.path AND patches.place = 1 AND patches.protocol = 'patch'
)
SELECT 'imagenet9' AS paper, numbers.* EXCLUDE (is_of_any_data, subject_of),
    coalesce(is_of_any_data, is_official AND coalesce(subject_of, subject) = subject)
        AS is_official,
    if(is_of_any_data, 'holds for any data', why) AS why, -- of the data
    foreground_count AS sample_size
FROM numbers
JOIN paper_imagenet9_data USING (study);
