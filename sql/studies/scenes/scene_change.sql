-- purpose: factor and map of a pair type of scenes
-- grain: scalar macros
-- paper: appendix D (clean endpoint pairs)
-- wall_hue_2 and wall_hue_2_endpoint have the factor wall_hue and the map 2. A pair type without a
-- number has no map. Endpoint pairs are scored only at both ends.
CREATE OR REPLACE MACRO scene_factor(pair_type) AS
    regexp_replace(pair_type, '(_\d+)?(_endpoint)?$', '');
CREATE OR REPLACE MACRO scene_map(pair_type) AS
    TRY_CAST(regexp_extract(pair_type, '_(\d+)(_endpoint)?$', 1) AS BIGINT);
