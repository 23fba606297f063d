-- purpose: hash that decides which cluster a place of a bootstrap replicate draws
-- grain: scalar macro
-- paper: appendix D.8 (statistical summaries)
-- A hash of text: hash() of several numbers is not random enough, its bits correlate between
-- replicates, and intervals come out far too narrow.
CREATE OR REPLACE MACRO drawn_word(seed, replicate, place) AS
    hash(concat_ws(':', seed, replicate, place));
