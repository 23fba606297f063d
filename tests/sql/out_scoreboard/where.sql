study IS NOT NULL OR place = 'section 7' AND unit = 'dinov2'
