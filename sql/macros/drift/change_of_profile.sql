-- purpose: joint size of the change of E, C and F of a trajectory, score units
-- grain: scalar macro
CREATE OR REPLACE MACRO change_of_profile(e_before, c_before, f_before, e_now, c_now, f_now) AS
    abs(e_now - e_before) + abs(c_now - c_before) + abs(f_now - f_before);
