"""Contracts of recipes. The training itself is not tried: it takes data and time."""

from decaf.contracts.base import Trial, require
from decaf.models.recipes.base import EstimatorRecipe, NetworkRecipe

SUFFIXES = (".skops", ".json", ".ubj")
ARCHITECTURE = "factory:decaf.models.networks.small_cnn:build"


def says_what_it_starts_from(trial: Trial) -> None:
    """start_digest and checks() of a network's recipe state the requirements of the training."""
    recipe = trial.member
    if isinstance(recipe, NetworkRecipe):
        digest, checks = recipe.start_digest, recipe.checks(ARCHITECTURE)
        require(
            digest is None or isinstance(digest, str),
            f"start_digest is {digest!r}; expected the digest of a file, or None",
        )
        require(
            isinstance(checks, tuple) and all(map(callable, checks)),
            f"checks() returned {checks!r}; expected a tuple of functions",
        )


def says_what_its_file_is(trial: Trial) -> None:
    """origin, suffix and trusted_types of an estimator's recipe describe its file."""
    recipe = trial.member
    if isinstance(recipe, EstimatorRecipe):
        require(
            isinstance(recipe.origin, str) and recipe.origin, "origin is empty; name the recipe"
        )
        require(
            recipe.suffix in SUFFIXES,
            f"suffix is {recipe.suffix!r}; expected one of {', '.join(SUFFIXES)}",
        )
        require(
            all(isinstance(name, str) for name in recipe.trusted_types),
            f"trusted_types is {recipe.trusted_types!r}; expected names of types, as "
            "'package.module.Type'",
        )
