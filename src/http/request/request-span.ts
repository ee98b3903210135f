import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SpanOptions, Tracer } from '../../core/telemetry/tracing.ts'

const routes = new WeakMap<IncomingMessage, string>()

/** Records the route that answers a request, such as `/status/:slug`, because its path may contain a secret. */
export function noteRoute(request: IncomingMessage, route: string): void {
  routes.set(request, route)
}

/** Returns the header of W3C Trace Context of a request. */
export function traceparentOf({ headers }: Pick<IncomingMessage, 'headers'>): Pick<SpanOptions, 'traceparent'> {
  const { traceparent } = headers
  return { traceparent: typeof traceparent === 'string' ? traceparent : undefined }
}

/**
 * Answers a request in a span, which ends when its connection is done with it. Follows OpenTelemetry's conventions for
 * HTTP, without the path, the query, headers and the address of the client.
 */
export function inRequestSpan(
  tracer: Tracer,
  request: IncomingMessage,
  response: ServerResponse,
  answer: () => void,
): void {
  const { method = 'GET', httpVersion } = request
  const span = tracer.start({
    name: method,
    kind: 'server',
    attributes: { 'http.request.method': method, 'network.protocol.version': httpVersion },
    ...traceparentOf(request),
  })
  response.on('close', () => {
    const route = routes.get(request)
    const { statusCode, headersSent } = response
    if (route !== undefined) {
      span.rename(`${method} ${route}`)
      span.set({ 'http.route': route })
    }
    if (headersSent) span.set({ 'http.response.status_code': statusCode })
    if (!headersSent) span.fail('aborted')
    else if (statusCode >= 500) span.fail(String(statusCode))
    span.end()
  })
  span.within(answer)
}
