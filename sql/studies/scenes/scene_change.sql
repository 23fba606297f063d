-- purpose: factor and map of a pair type of scenes
-- grain: scalar macros
-- paper: appendix D (clean endpoint pairs)
-- Of wall_hue_2 and wall_hue_2_endpoint, the factor is wall_hue and the map 2; the map is NULL where
-- the factor has a single one. Endpoint pairs are scored at both ends alone.
CREATE OR REPLACE MACRO scene_factor(pair_type) AS
    regexp_replace(pair_type, '(_\d+)?(_endpoint)?$', '');
CREATE OR REPLACE MACRO scene_map(pair_type) AS
    TRY_CAST(regexp_extract(pair_type, '_(\d+)(_endpoint)?$', 1) AS BIGINT);
