"""Models that give one input another score at every query: how often each input is scored."""

from pydantic import Field, model_validator

from decaf.foundation.settings import Settings, fault


class Stochastic(Settings):
    """Repeated queries of a stochastic model, whose mean is the score (paper, appendix C.3)."""

    repeats: int = Field(
        8, ge=1, le=1000, description="queries of every input; their mean is its score"
    )
    seed: str | None = Field(
        None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="keyword argument of a function that gets the seeds 0, 1, … of the queries, so "
        "that both branches share them; without it the queries are independent",
    )

    @model_validator(mode="after")
    def _is_repeated(self) -> "Stochastic":
        if self.repeats == 1 and self.seed is None:
            raise fault(
                "'repeats' is 1, which cannot show noise; expected 2 or more, or a 'seed'",
                "repeats",
            )
        return self
