-- purpose: name of a model's architecture in the paper's attribution tables
-- grain: scalar macro
-- paper: section 7; appendix H
-- An architecture that the paper lacks keeps its name.
CREATE OR REPLACE MACRO attribution_architecture(architecture, family) AS
    CASE
        WHEN regexp_matches(concat_ws(' ', architecture, family), '\bresnet50\b') THEN 'resnet50'
        WHEN regexp_matches(concat_ws(' ', architecture, family), '\bvgg16\b') THEN 'vgg16'
        WHEN regexp_matches(concat_ws(' ', architecture, family),
            '\bvit_b(_16|ase_patch16_224)\b') THEN 'vit_b_16'
        WHEN regexp_matches(concat_ws(' ', architecture, family),
            '\b(dinov2_vitg14|vit_giant_patch14_(reg4_)?dinov2)') THEN 'dinov2_vitg14'
        ELSE architecture
    END;
