-- purpose: 95 % interval of a share: Wilson's, with the correction for continuity
-- grain: scalar macro
-- 3 hits in 3 tries give 0.31 to 1; no tries give 0 to 1.
CREATE OR REPLACE MACRO binomial_limits(hits, tries) AS {
    lower: CASE
        WHEN hits = 0 THEN 0.0
        ELSE greatest(0.0, (2 * hits + 3.8414588206941254 - 1 - 1.959963984540054 * sqrt(3.8414588206941254 - 2 - 1 / tries
            + 4 * (hits / tries) * (tries - hits + 1))) / (2 * (tries + 3.8414588206941254)))
    END,
    upper: CASE
        WHEN hits = tries THEN 1.0
        ELSE least(1.0, (2 * hits + 3.8414588206941254 + 1 + 1.959963984540054 * sqrt(3.8414588206941254 + 2 - 1 / tries
            + 4 * (hits / tries) * (tries - hits - 1))) / (2 * (tries + 3.8414588206941254)))
    END
};
