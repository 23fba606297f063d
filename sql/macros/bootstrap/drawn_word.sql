-- purpose: hash that decides which cluster a place of a bootstrap replicate draws
-- grain: scalar macro
-- paper: appendix D.8 (statistical summaries)
-- It hashes text: the bits of hash() of several numbers correlate between replicates, which makes
-- intervals far too narrow.
CREATE OR REPLACE MACRO drawn_word(seed, replicate, place) AS
    hash(concat_ws(':', seed, replicate, place));
