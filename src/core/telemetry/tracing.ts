import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { packageVersion } from '../process/package-version.ts'

/**
 * The attributes of a span. Never values of statements, targets of probes, or paths and queries of requests, which may
 * contain secrets.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** Traced work, until it ends. */
export interface Span {
  set(attributes: SpanAttributes): void
  rename(name: string): void
  /**
   * Marks it as failed.
   * @param type the class or code of the error; not a message, which may quote data.
   */
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
  /** The header of W3C Trace Context; used if there is no surrounding span. */
  readonly traceparent?: string | undefined
}

/** Creates the spans of this process. */
export interface Tracer {
  /** Starts a span that belongs to the surrounding one. The caller must end it. */
  start(options: SpanOptions): Span
  /** Runs work in a span, which ends and fails with it. */
  run<T>(options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>
  /** Returns the surrounding span; null: none. */
  current(): Span | null
  /** Sends waiting spans, for two seconds at most. Never rejects. */
  close(): Promise<void>
}

/** The destination of spans. */
export interface TracerOptions {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Absent: that of `OTEL_RESOURCE_ATTRIBUTES`, or `allclear`. */
  readonly serviceName: string | undefined
  readonly version: string
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** Opens the tracer of the settings; null, without loading anything, if no collector is set. */
export async function openTracer(
  config: Pick<Config, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_SERVICE_NAME'>,
  log: TracerOptions['log'],
): Promise<Tracer | null> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT
  if (endpoint === undefined) return null
  const { createOtlpTracer } = await import('./otlp.ts')
  return createOtlpTracer({
    // The path is appended to the base, as OpenTelemetry's specification of the exporter says.
    url: `${endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces`,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: config.OTEL_SERVICE_NAME,
    version: packageVersion,
    log,
  })
}
