-- purpose: kinds of inputs of each pair type, and its numbers of pairs and sources
-- grain: one row per study, pair type and the two kinds of inputs
-- paper: section 2; appendix F.3
CREATE OR REPLACE VIEW out_pair_types AS
SELECT
    study,
    pair_type,
    plus_variant, -- kind of the factual input
    minus_variant,
    count(*) AS pair_count,
    count(DISTINCT source_id) AS source_count -- intervals resample sources
FROM core_pairs
GROUP BY study, pair_type, plus_variant, minus_variant
ORDER BY study, pair_type, plus_variant, minus_variant;
