-- purpose: numbers of Covertype studies for the values of the paper
-- grain: one row per study and value of the paper
-- paper: section 5; appendix I
CREATE OR REPLACE VIEW core_covertype_comparisons AS
WITH numbers AS (
    SELECT study, method, behaviour AS part, 'rank_correlation' AS statistic, estimate, lower_95,
        upper_95, reason
    FROM paper_covertype_ranks
    UNION ALL BY NAME
    SELECT study, method, behaviour AS part, 'model_count' AS statistic, model_count AS estimate
    FROM paper_covertype_ranks
    UNION ALL BY NAME
    SELECT study, family AS unit, mechanism AS part, 'rank_correlation' AS statistic, estimate, reason
    FROM paper_covertype_treatments
    WHERE behaviour = 'inversion'
    UNION ALL BY NAME
    SELECT study, module AS unit, statistic, estimate, reason FROM paper_covertype_design
    UNION ALL BY NAME
    SELECT study, family AS unit, mechanism AS part, statistic, estimate, reason
    FROM paper_covertype_families
    UNION ALL BY NAME
    SELECT study, method, label AS part, statistic, estimate, reason FROM paper_covertype_readout
    UNION ALL BY NAME
    SELECT study, method, 'valid bins' AS part, statistic, estimate, reason
    FROM paper_covertype_within_abs
    UNION ALL BY NAME
    SELECT study, method, statistic, estimate, reason FROM paper_covertype_costs
    UNION ALL BY NAME
    SELECT study, method, statistic, estimate, reason
    FROM paper_covertype_budgets
    WHERE statistic = 'explained_rows'
    UNION ALL BY NAME
    SELECT study, 'matched pairs' AS unit, method, statistic, estimate, reason
    FROM paper_covertype_matched
    UNION ALL BY NAME
    SELECT study, 'data' AS unit, unnest(['drawn_per_class', 'rows']) AS statistic,
        unnest([drawn_per_class, row_count])::DOUBLE AS estimate
    FROM paper_covertype_data
)
SELECT 'covertype' AS paper, numbers.*, row_count AS sample_size, is_official, why -- of the data
FROM numbers
JOIN paper_covertype_data USING (study);
