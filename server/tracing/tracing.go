// Package tracing sends spans of requests to a collector of OpenTelemetry, when it was
// asked to: a server without a Tracer does nothing of it. Spans tell the route, the
// method, the status and the token's name, never content.
//
//	t, err := tracing.New(ctx, tracing.Options{URL: "http://127.0.0.1:4318"})
//	if err != nil {
//		return err
//	}
//	defer t.Shutdown(ctx)
//	s, err := server.New(registry, server.Config{Tokens: tokens, Tracer: t})
package tracing

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options say where spans go.
type Options struct {
	// URL is where the collector takes OTLP by HTTP: http://host:port or https://host:port,
	// with a path or with the usual one, /v1/traces.
	URL string
	// Version is told of the service.
	Version string
}

// Tracer sends spans. It is safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	context  propagation.TraceContext
}

// usualPath is where collectors take spans.
const usualPath = "/v1/traces"

// New makes a tracer. Nothing is sent before there are spans; what the collector does
// not take is dropped.
func New(ctx context.Context, o Options) (*Tracer, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("%q is no collector: want http://host:port or https://host:port", o.URL)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = usualPath
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(u.String()), otlptracehttp.WithHeaders(map[string]string{}))
	if err != nil {
		return nil, err
	}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(exporter), sdk.WithSampler(sdk.ParentBased(sdk.AlwaysSample())),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "engramd"), attribute.String("service.version", o.Version))),
	)
	return &Tracer{provider: provider, tracer: provider.Tracer("engram/server")}, nil
}

// Start begins the span of a request, below the one that its traceparent header names,
// and returns the context for what it does, and what ends the span.
func (t *Tracer) Start(ctx context.Context, method, route string, header http.Header) (spanned context.Context, end func(status int, token string)) {
	ctx = t.context.Extract(ctx, propagation.HeaderCarrier(header))
	ctx, span := t.tracer.Start(ctx, method+" "+route, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route)))
	return ctx, func(status int, token string) {
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if token != "" {
			span.SetAttributes(attribute.String("engram.token", token))
		}
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(status))
		}
		span.End()
	}
}

// Shutdown sends what waits, as long as ctx lives, and stops.
func (t *Tracer) Shutdown(ctx context.Context) error { return t.provider.Shutdown(ctx) }
