import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { packageVersion } from '../process/package-version.ts'

/** What a span says. Never values of statements, targets of probes, or paths and queries of requests: they may hold secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** A piece of work that was traced, until it ends. */
export interface Span {
  set(attributes: SpanAttributes): void
  rename(name: string): void
  /** Marks it as failed. @param type the class or code of the error; no message, which may quote data. */
  fail(type: string): void
  end(): void
  /** Runs work whose spans belong to this one. */
  within<T>(work: () => T): T
}

export interface SpanOptions {
  readonly name: string
  /** `server` answers a request, `client` makes one; absent: `internal`. */
  readonly kind?: 'server' | 'client' | 'internal'
  readonly attributes?: SpanAttributes
  /** The header of W3C Trace Context; counts where there is no span around this one. */
  readonly traceparent?: string | undefined
}

/** Makes the spans of this process. */
export interface Tracer {
  /** Starts a span that belongs to the one around it. The caller must end it. */
  start(options: SpanOptions): Span
  /** Runs work in a span, which ends and fails with it. */
  run<T>(options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>
  /** Returns the span around the caller; null: none. */
  current(): Span | null
  /** Sends what waits, for two seconds at most. Never rejects. */
  close(): Promise<void>
}

/** Where spans go. */
export interface TracerOptions {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Absent: that of `OTEL_RESOURCE_ATTRIBUTES`, or `allclear`. */
  readonly serviceName: string | undefined
  readonly version: string
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** Opens the tracer of the settings; null, and nothing is loaded, where no collector is named. */
export async function openTracer(
  config: Pick<Config, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_SERVICE_NAME'>,
  log: TracerOptions['log'],
): Promise<Tracer | null> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT
  if (endpoint === undefined) return null
  const { createOtlpTracer } = await import('./otlp.ts')
  return createOtlpTracer({
    // The path is appended to the base, as OpenTelemetry's specification of the exporter says.
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: config.OTEL_SERVICE_NAME,
    version: packageVersion,
    log,
  })
}
