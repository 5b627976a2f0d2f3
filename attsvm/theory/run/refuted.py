"""A confirmed violation of one part of a claim."""

from __future__ import annotations

from dataclasses import dataclass

from attsvm._types import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Refuted:
    """A confirmed violation of a part, with the values that confirm it."""

    instance: Json
    slack: dict[str, str]
    evidence: str
    enclosure: tuple[str, str] | None
    method: str
    found_by: str

    @classmethod
    def read(cls, document: JsonObject) -> Refuted:
        """Return the violation stored in plain data."""
        bounds = document["enclosure"]
        return cls(**{**document, "enclosure": bounds and tuple(bounds)})
