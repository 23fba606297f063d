"""The Backgrounds Challenge (ImageNet-9): its files, pairs, fine-tuning and behaviours."""
