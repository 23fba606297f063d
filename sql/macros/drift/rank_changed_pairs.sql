-- purpose: up to three pairs for each of the three largest changes of role, of up to six entries
-- grain: one row per study, entry, two roles and rank
-- paper: section 6.2
-- rel names a relation with columns study, entry, role_before, role_now, change_size, weight,
-- source_id, pair_id, path and repetition; other columns stay. Entries with the largest change come
-- first. A change of role has at most one pair of each source.
-- FROM rank_changed_pairs('my_pairs')
CREATE OR REPLACE MACRO rank_changed_pairs(rel) AS TABLE
WITH one_per_source AS (
    SELECT *,
        max(change_size) OVER (PARTITION BY study, entry) AS largest_change,
        sum(change_size * weight) OVER role_change AS total_change
    FROM query_table(rel)
    WINDOW role_change AS (PARTITION BY study, entry, role_before, role_now)
    QUALIFY row_number() OVER (PARTITION BY study, entry, role_before, role_now, source_id
        ORDER BY change_size DESC, pair_id, path, repetition) = 1
)
SELECT * EXCLUDE (weight, largest_change, total_change),
    dense_rank() OVER (PARTITION BY study ORDER BY largest_change DESC, entry)
        AS entry_place, -- from 1
    dense_rank() OVER (PARTITION BY study, entry ORDER BY total_change DESC, role_before, role_now)
        AS kind_place, -- 1 is the change of role with the largest total
    row_number() OVER (PARTITION BY study, entry, role_before, role_now
        ORDER BY change_size DESC, pair_id, path, repetition) AS rank -- 1 is the largest change
FROM one_per_source
QUALIFY entry_place <= 6 AND kind_place <= 3 AND rank <= 3;
