-- purpose: panels of the paper's figures in their order
FROM core_panels
ORDER BY regexp_extract(figure, '\d+')::INTEGER, figure
