-- purpose: format scores and shares for the words of a finding
-- grain: scalar macros

-- A score with three decimals; 0 where it is 0, a bound where it would be written as 0.
CREATE OR REPLACE MACRO written_score(value) AS
    CASE
        WHEN value = 0 THEN '0'
        WHEN abs(value) < 0.0005 THEN '<0.001'
        ELSE replace(format('{:,.3f}', value), '-', '−')
    END;

-- The response to a pair type by Abs and M: 'age by 0.030 (M 0.061)'.
CREATE OR REPLACE MACRO written_response(name, abs_response, magnitude) AS
    format('{} by {} (M {})', name, written_score(abs_response), written_score(magnitude));

-- A limit with three decimals, and more if it has more.
CREATE OR REPLACE MACRO written_limit(value) AS
    regexp_replace(format('{:.12f}', value), '(\.\d{3}\d*?)0+$', '\1');

-- A share in percent, with one decimal at most; one that is not quite all is not 100.
CREATE OR REPLACE MACRO written_percent(share) AS
    CASE
        WHEN share > 0 AND share < 0.0005 THEN '<0.1 %'
        WHEN share >= 0.9995 AND share < 1 THEN '>99.9 %'
        ELSE regexp_replace(format('{:.1f}', 100 * share), '\.0$', '') || ' %'
    END;

-- Shares of a response by size, those below half a percent left out: '86 % evidence, 14 % fragility';
-- NULL where there are none.
CREATE OR REPLACE MACRO written_shares(evidence, contradiction, fragility) AS
    nullif(array_to_string([
        format('{:.0f} % {}', 100 * part.share, part.name)
        FOR part IN list_reverse_sort([
            {share: evidence, name: 'evidence'},
            {share: contradiction, name: 'contradiction'},
            {share: fragility, name: 'fragility'}
        ])
        IF part.share >= 0.005
    ], ', '), '');

-- An interval and other notes in brackets: ' (95 %: 0.1 to 0.2; by patch: 0.05)'; '' without any.
-- Each note begins with '; '.
CREATE OR REPLACE MACRO written_interval(lower_limit, upper_limit, notes) AS
    coalesce(' (' || nullif(ltrim(
        coalesce(format('; 95 %: {} to {}', written_score(lower_limit),
            written_score(upper_limit)), '') || notes, '; '), '') || ')', '');
