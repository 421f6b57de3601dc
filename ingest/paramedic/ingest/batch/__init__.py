"""The telemetry batch on the wire: layout, writer, reader, and the key it is published under."""
