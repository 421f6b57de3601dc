"""The page at `/docs`: made here from the OpenAPI document, without anything from other hosts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h2 { font-size: 1.1rem; margin: 0; } section { border-top: 1px solid #8886; padding: 1rem 0; }
code, pre { font: 0.85rem/1.45 ui-monospace, monospace; }
pre { background: #8881; padding: 0.75rem; overflow: auto; border-radius: 4px; }
td, th { text-align: left; padding: 0.1rem 1rem 0.1rem 0; vertical-align: top; }
"""


def docs_page(openapi: Mapping[str, Any]) -> str:
    """The whole page as HTML."""
    info = openapi["info"]
    title = escape(f"{info['title']} {info['version']}")
    sections = "\n".join(_sections(openapi))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body><h1>{title}</h1>\n<p>{escape(info.get('description', ''))}</p>\n"
        f'<p>The same for machines: <a href="/openapi.json">/openapi.json</a></p>\n'
        f"{sections}\n</body></html>\n"
    )


def _sections(openapi: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            yield (
                f'<section id="{escape(operation["operationId"])}">'
                f"<h2><code>{method.upper()} {escape(path)}</code></h2>"
                f"<p>{escape(operation.get('description', ''))}</p>"
                f"{_parameters(operation)}{_body(openapi, operation)}"
                f"{_responses(openapi, operation)}</section>"
            )


def _parameters(operation: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(parameter['name'])}</code></td>"
        f"<td>{escape(parameter.get('description', ''))}</td></tr>"
        for parameter in operation.get("parameters", ())
    )
    return f"<table>{rows}</table>" if rows else ""


def _body(openapi: Mapping[str, Any], operation: Mapping[str, Any]) -> str:
    contents = operation.get("requestBody", {}).get("content", {}).values()
    examples = "".join(_example(openapi, content) for content in contents)
    return f"<p>It is sent</p>{examples}" if examples else ""


def _responses(openapi: Mapping[str, Any], operation: Mapping[str, Any]) -> str:
    parts = []
    for status, response in operation["responses"].items():
        described = escape(response.get("description", ""))
        parts.append(f"<p><strong>{escape(status)}</strong> {described}</p>")
        if status.startswith("2"):
            parts += [_example(openapi, content) for content in response["content"].values()]
    return "".join(parts)


def _example(openapi: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    examples = openapi["components"]["schemas"].get(name, {}).get("examples", ())
    return "".join(f"<pre>{escape(json.dumps(example, indent=2))}</pre>" for example in examples)
