-- purpose: element of a sorted list at a place between 0 and its length - 1
-- grain: scalar macro
-- paper: appendix D.8 (statistical summaries)
-- It interpolates from the nearer element, as numpy does, so quantiles are equal to the last bit,
-- and a unit exactly on an edge lies in the same bin as in Python.
CREATE OR REPLACE MACRO interpolated_at(elements, place) AS
    CASE WHEN place - floor(place) < 0.5
        THEN elements[floor(place)::BIGINT + 1]
            + (elements[ceil(place)::BIGINT + 1] - elements[floor(place)::BIGINT + 1])
            * (place - floor(place))
        ELSE elements[ceil(place)::BIGINT + 1]
            - (elements[ceil(place)::BIGINT + 1] - elements[floor(place)::BIGINT + 1])
            * (1 - (place - floor(place)))
    END;
