-- purpose: format scores and shares for the sentence of a finding
-- grain: scalar macros

-- A score with three decimals; '<0.001' for other numbers than 0 that round to 0.
CREATE OR REPLACE MACRO format_score(value) AS
    CASE
        WHEN value = 0 THEN '0'
        WHEN abs(value) < 0.0005 THEN '<0.001'
        ELSE replace(format('{:,.3f}', value), '-', '−')
    END;

-- Abs and M of a pair type: 'age by 0.030 (M 0.061)'.
CREATE OR REPLACE MACRO format_response(name, abs_response, magnitude) AS
    format('{} by {} (M {})', name, format_score(abs_response), format_score(magnitude));

-- A limit with at least three decimals.
CREATE OR REPLACE MACRO format_limit(value) AS
    regexp_replace(format('{:.12f}', value), '(\.\d{3}\d*?)0+$', '\1');

-- A share in percent, with at most one decimal; below 1 it is never '100 %'.
CREATE OR REPLACE MACRO format_percent(share) AS
    CASE
        WHEN share > 0 AND share < 0.0005 THEN '<0.1 %'
        WHEN share >= 0.9995 AND share < 1 THEN '>99.9 %'
        ELSE regexp_replace(format('{:.1f}', 100 * share), '\.0$', '') || ' %'
    END;

-- Shares of a response, the largest first, without those below half a percent: '86 % evidence,
-- 14 % fragility'; NULL without any share.
CREATE OR REPLACE MACRO format_shares(evidence, contradiction, fragility) AS
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
CREATE OR REPLACE MACRO format_interval(lower_limit, upper_limit, notes) AS
    coalesce(' (' || nullif(ltrim(
        coalesce(format('; 95 %: {} to {}', format_score(lower_limit),
            format_score(upper_limit)), '') || notes, '; '), '') || ')', '');

-- Begin of a finding, without words of its rule that would contradict the decision: a safe model keeps
-- its limits, and one that is not safe breaks a limit, however small the response is.
CREATE OR REPLACE MACRO begin_finding(rule, words, name, decision, is_broken) AS
    CASE
        WHEN decision = 'safe' AND rule IN ('decides_by', 'leans_on', 'contradicts', 'unstable')
            THEN format('Reacts to {}: this change moves', name)
        WHEN decision = 'not safe' AND is_broken
            AND rule IN ('contradicts', 'unstable', 'reacts_to', 'no_response')
            THEN format('Breaks the limit of {}: this change moves', name)
        ELSE words
    END;
