-- purpose: write scores and shares in words of a finding
-- grain: scalar macros

-- A score with the decimals that tell a tenth of the smallest response that counts, 3 at least;
-- 0 where it is 0, a bound where it would be written as 0.
CREATE OR REPLACE MACRO decimals_for(smallest) AS greatest(3, 1 - floor(log10(smallest)))::INTEGER;

CREATE OR REPLACE MACRO written_score(value, smallest) AS
    CASE
        WHEN value = 0 THEN '0'
        WHEN abs(value) < 0.5 * 10.0 ** -decimals_for(smallest)
            THEN format('{}<{:.{}f}', if(value < 0, '−', ''), 10.0 ** -decimals_for(smallest),
                decimals_for(smallest))
        ELSE replace(format('{:.{}f}', value, decimals_for(smallest)), '-', '−')
    END;

-- Shares of a response by size, those below half a percent left out: '86% evidence, 14% fragility';
-- NULL where there are none.
CREATE OR REPLACE MACRO written_shares(evidence, contradiction, fragility) AS
    nullif(array_to_string([
        format('{:.0f}% {}', 100 * part.share, part.name)
        FOR part IN list_reverse_sort([
            {share: evidence, name: 'evidence'},
            {share: contradiction, name: 'contradiction'},
            {share: fragility, name: 'fragility'}
        ])
        IF part.share >= 0.005
    ], ', '), '');

-- An interval and other notes in brackets: ' (95%: 0.1 to 0.2; by patch: 0.05)'; '' without any.
-- Each note begins with '; '.
CREATE OR REPLACE MACRO written_interval(lower_limit, upper_limit, smallest, notes) AS
    coalesce(' (' || nullif(ltrim(
        coalesce(format('; 95%: {} to {}', written_score(lower_limit, smallest),
            written_score(upper_limit, smallest)), '') || notes, '; '), '') || ')', '');
