import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import type { Span, SpanOptions, Tracer } from '../../core/telemetry/tracing.ts'

/** The maximum number of statements whose span options are cached. */
const MAX_KNOWN = 1000

/** The arguments of `pg`'s query, in one of its forms. */
type Query = (this: unknown, ...args: unknown[]) => unknown
type Callback = (this: unknown, error: unknown, ...rest: unknown[]) => unknown

/**
 * Traces every statement of this process. A span names the first word and the table of a statement, never its values.
 * Call this before the database opens.
 * @returns a function that stops tracing.
 */
export function traceStatements(tracer: Pick<Tracer, 'start'>): () => void {
  const client = pg.Client.prototype as unknown as { query: Query }
  const pool = pg.Pool.prototype as unknown as { connect: Query }
  const { query } = client
  const { connect } = pool
  client.query = tracedQuery(query, tracer)
  pool.connect = function connectInContext(callback) {
    // The caller that returns a connection resumes a waiting one, which would continue in the span of the former.
    return typeof callback === 'function'
      ? connect.call(this, AsyncLocalStorage.bind(callback as Callback))
      : connect.call(this)
  }
  return () => {
    client.query = query
    pool.connect = connect
  }
}

function tracedQuery(query: Query, tracer: Pick<Tracer, 'start'>): Query {
  const known = new Map<string, SpanOptions>()

  function optionsOf(text: string): SpanOptions {
    const options = known.get(text) ?? statementSpan(text)
    if (known.size < MAX_KNOWN) known.set(text, options)
    return options
  }

  return function queryInSpan(...args) {
    const text = textOf(args[0])
    if (text === null) return query.apply(this, args)
    const span = tracer.start(optionsOf(text))
    const callback = args.at(-1)
    if (typeof callback === 'function') {
      args[args.length - 1] = function ended(this: unknown, error: unknown, ...rest: unknown[]) {
        endSpan(span, error)
        return (callback as Callback).call(this, error, ...rest)
      }
      return query.apply(this, args)
    }
    const answer = query.apply(this, args)
    if (answer instanceof Promise)
      answer.then(
        () => endSpan(span, null),
        (error: unknown) => endSpan(span, error),
      )
    else span.end()
    return answer
  }
}

/** Returns the text of a statement; null for an object that sends itself, such as a cursor. */
function textOf(statement: unknown): string | null {
  if (typeof statement === 'string') return statement
  if (typeof statement !== 'object' || statement === null || 'submit' in statement || !('text' in statement))
    return null
  return typeof statement.text === 'string' ? statement.text : null
}

function endSpan(span: Span, error: unknown): void {
  // PostgreSQL's code, such as 23505, or Node's, such as ECONNRESET.
  const { code } = (error ?? {}) as { readonly code?: unknown }
  if (error) span.fail(typeof code === 'string' ? code : 'error')
  span.end()
}

/** Matches the first table that a statement names. All statements are ours or Prisma's, and quote names. */
const TABLE = /\b(?:FROM|INTO|UPDATE|JOIN|TABLE)\s+(?:ONLY\s+)?(?:"?public"?\.)?"?(\w+)"?/i

/** Returns the span options of a statement, following OpenTelemetry's semantic conventions for databases. */
function statementSpan(text: string): SpanOptions {
  const operation = /^\s*([a-z]+)/i.exec(text)?.[1]?.toUpperCase() ?? 'STATEMENT'
  const table = TABLE.exec(text)?.[1]
  const name = table === undefined ? operation : `${operation} ${table}`
  return {
    name,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.summary': name,
      ...(table !== undefined && { 'db.collection.name': table }),
    },
  }
}
