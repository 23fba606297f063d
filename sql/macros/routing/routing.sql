-- purpose: response, stage weights and components of stored scores at any epsilon
-- grain: scalar macros
-- paper: section 3; appendix C.1

-- r = q_plus - q_minus at every stage, score units.
CREATE OR REPLACE MACRO response_of(q_plus, q_minus) AS
    list_transform(q_plus, lambda q, stage: q - q_minus[stage]);

-- Trapezoid weights of stages; a list is NULL beyond its ends. The weight of a missing stage is
-- NaN.
CREATE OR REPLACE MACRO weights_of(t) AS
    list_transform(t, lambda here, place: coalesce(
        (coalesce(t[place + 1], here) - coalesce(t[place - 1], here)) / 2, 'NaN'::DOUBLE
    ));

-- Integral over the stages; NULL for lists of different lengths, which the checks report.
CREATE OR REPLACE MACRO integral_of(stage_values, weights) AS
    CASE WHEN len(stage_values) = len(weights) THEN list_inner_product(stage_values, weights) END;

-- Mass of the response above zero, and below it.
CREATE OR REPLACE MACRO rising_mass_of(response, weights) AS
    integral_of(list_transform(response, lambda r: greatest(r, 0)), weights);
CREATE OR REPLACE MACRO falling_mass_of(response, weights) AS
    integral_of(list_transform(response, lambda r: greatest(-r, 0)), weights);

-- Weight of the stages whose response has the sign of side, 0 to 1.
CREATE OR REPLACE MACRO sign_measure_of(response, weights, side) AS
    integral_of(
        list_transform(response, lambda r: CASE WHEN r * side > 0 THEN 1::DOUBLE ELSE 0 END),
        weights
    );

-- A pair with |d| = epsilon is active. The cast avoids a comparison of a literal as DECIMAL.
CREATE OR REPLACE MACRO is_active_at(d, epsilon) AS abs(d) >= epsilon::DOUBLE;

-- Components at an epsilon from d and the two masses. The masses of one stage are greatest(r, 0)
-- and greatest(-r, 0).
CREATE OR REPLACE MACRO evidence_at(d, rising, falling, epsilon) AS
    CASE WHEN NOT is_active_at(d, epsilon) THEN 0 WHEN d > 0 THEN rising ELSE falling END;
CREATE OR REPLACE MACRO contradiction_at(d, rising, falling, epsilon) AS
    CASE WHEN NOT is_active_at(d, epsilon) THEN 0 WHEN d > 0 THEN falling ELSE rising END;
CREATE OR REPLACE MACRO fragility_at(d, rising, falling, epsilon) AS
    CASE WHEN is_active_at(d, epsilon) THEN 0 ELSE rising + falling END;

-- Mass opposite to the sign of d, for active and inactive pairs; 0 where d = 0.
CREATE OR REPLACE MACRO opposed_mass_at(d, rising, falling) AS
    CASE WHEN d > 0 THEN falling WHEN d < 0 THEN rising ELSE 0 END;

-- True if two numbers differ by over 1e-12 of max(1, number); NULL equals only NULL.
CREATE OR REPLACE MACRO differs(stored, recomputed) AS
    stored IS DISTINCT FROM recomputed
    AND NOT coalesce(abs(stored - recomputed) <= 1e-12 * greatest(1, abs(recomputed)), false);
