-- purpose: name the main roles of a response that change with the threshold, for its finding
-- grain: scalar macro

-- Roles of out_thresholds: '; most of it is fragility at ε = 0.020, evidence at 0.010'; NULL if the
-- role is the same at half, once and twice the threshold.
CREATE OR REPLACE MACRO name_roles(role_half, role, role_double, epsilon) AS
    CASE WHEN role_half <> role OR role <> role_double
        THEN if(role = 'mixed', '; its roles are mixed', '; most of it is ' || role)
            || ' at ε = ' || format_limit(epsilon)
            || if(role_half = role, '', format(', {} at {}', role_half, format_limit(epsilon / 2)))
            || if(role_double = role, '', format(', {} at {}', role_double, format_limit(2 * epsilon)))
    END;
