import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Context, Span as OtelSpan } from '@opentelemetry/api'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import type { SpanExporter } from '@opentelemetry/sdk-trace-base'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { waitAtMost } from '../concurrency/deadline.ts'
import type { Span, SpanOptions, Tracer, TracerOptions } from './tracing.ts'

/**
 * How long a stop waits for the last spans, in milliseconds. A collector that hangs must not take the time of other
 * parts.
 */
const FLUSH_TIMEOUT_MS = 2000

/** How often failures to export are logged, in milliseconds. */
const REMINDER_MS = 60_000

/**
 * Creates a tracer that sends spans by OTLP over HTTP, as JSON, in batches. Up to 2,048 spans wait; those that cannot
 * be sent are lost. The libraries read `OTEL_TRACES_SAMPLER`, `OTEL_BSP_*`, `OTEL_EXPORTER_OTLP_TIMEOUT` and
 * `OTEL_RESOURCE_ATTRIBUTES` themselves.
 */
export function createOtlpTracer({ url, headers, serviceName, version, log }: TracerOptions): Tracer {
  const exporter = loggingExporter(new OTLPTraceExporter({ url, headers: { ...headers } }), log)
  const processor = new BatchSpanProcessor(exporter)
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'allclear', 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes(serviceName === undefined ? {} : { 'service.name': serviceName }))
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] })
  const tracer = provider.getTracer('allclear', version)
  const active = new AsyncLocalStorage<Span & { readonly context: Context }>()

  function start({ name, kind = 'internal', attributes, traceparent }: SpanOptions) {
    const parent = active.getStore()?.context ?? contextOf(traceparent)
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes: { ...attributes } }, parent)
    return openSpan(span, trace.setSpan(parent, span), (opened, work) => active.run(opened, work))
  }

  return {
    start,
    current: () => active.getStore() ?? null,
    async run(options, work) {
      const span = start(options)
      try {
        return await span.within(() => work(span))
      } catch (error) {
        span.fail(error instanceof Error ? error.name : 'error')
        throw error
      } finally {
        span.end()
      }
    },
    close: () => waitAtMost(FLUSH_TIMEOUT_MS, provider.shutdown()),
  }
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const

type Opened = Span & { readonly context: Context }

function openSpan(span: OtelSpan, context: Context, run: <T>(opened: Opened, work: () => T) => T): Opened {
  const opened: Opened = {
    context,
    set: (attributes) => void span.setAttributes(attributes as Attributes),
    rename: (name) => void span.updateName(name),
    fail: (type) => {
      span.setAttribute('error.type', type)
      span.setStatus({ code: SpanStatusCode.ERROR })
    },
    end: () => span.end(),
    within: (work) => run(opened, work),
  }
  return opened
}

/** Version 00 of W3C Trace Context; later versions begin the same way (§3.2.2). */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-|$)/

/** Returns the context of a `traceparent` header; ignores an invalid one, as W3C Trace Context requires. */
function contextOf(traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent?.trim() ?? '') ?? []
  if (!traceId || !spanId || !flags) return ROOT_CONTEXT
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

/** Logs when spans cannot be exported: at once, then once a minute, and when they can be again. */
function loggingExporter(exporter: SpanExporter, log: TracerOptions['log']): SpanExporter {
  let lost = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code === 0) {
          if (lost > 0) log.info({ lost }, 'traces: the collector accepts spans again')
          lost = 0
          loggedAt = Number.NEGATIVE_INFINITY
        } else {
          lost += spans.length
          if (performance.now() - loggedAt > REMINDER_MS) {
            loggedAt = performance.now()
            log.warn({ lost, reason: result.error?.message }, 'traces: the collector does not accept spans')
          }
        }
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  }
}
