"""Puts right what FastAPI cannot say in OpenAPI: problem details, and nulls in examples."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from paramedic.api.rest import documents
from paramedic.api.rest.problem import MEDIA_TYPE

_REPLACED_BY_PROBLEM = ("HTTPValidationError", "ValidationError")


def finish(openapi: dict[str, Any]) -> None:
    """Change the document in place."""
    schemas = openapi["components"]["schemas"]
    for methods in openapi["paths"].values():
        for operation in methods.values():
            _name_problems(operation["responses"])
    for name in _REPLACED_BY_PROBLEM:
        schemas.pop(name, None)
    for name, schema in schemas.items():
        model = getattr(documents, name, None)
        if isinstance(model, type) and issubclass(model, BaseModel):
            _keep_nulls(schema, model)


def _name_problems(responses: dict[str, Any]) -> None:
    # FastAPI books every model under the route's own media type.
    for status, response in responses.items():
        if not status.startswith("2"):
            response["description"] = response["description"].replace(
                "Validation Error", "Unprocessable Entity"
            )
            response["content"] = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}


def _keep_nulls(schema: dict[str, Any], model: type[BaseModel]) -> None:
    # FastAPI leaves out every null, in examples too, where it means something.
    examples = model.model_json_schema().get("examples")
    if examples is not None:
        schema["examples"] = examples
