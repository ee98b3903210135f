import type { Plugin } from 'graphql-yoga'
import { mediaTypeOf } from '../../http/request/media-type.ts'

/**
 * The media types of results and of subscriptions. Yoga's `multipart/mixed` is for incremental results, which do not
 * exist here.
 */
const RESULT_TYPES = ['application/json', 'application/graphql-response+json', 'text/event-stream']
const EVENT_TYPES = ['text/event-stream']

/** The types of a body. */
const BODY_TYPES = ['application/json', 'application/graphql+json']

/**
 * Rejects bodies that are not JSON and callers that accept none of our media types, before anything is executed. A
 * mutation must not run from a request that any site can send without a CORS preflight: `text/plain`, forms, or no
 * media type.
 */
export const mediaTypes: Plugin = {
  onRequest({ request, fetchAPI, endResponse }) {
    const accept = request.headers.get('accept')
    // Yoga would look for the quotes of a parameter in our types.
    if (accept?.includes('"')) request.headers.set('accept', accept.replaceAll('"', ''))
    const refuse = (status: number, code: string, message: string) => {
      const body = JSON.stringify({ errors: [{ message, extensions: { code } }] })
      endResponse(new fetchAPI.Response(body, { status, headers: { 'content-type': mediaTypeFor(accept) } }))
    }
    if (request.method === 'POST' && !isJson(request.headers.get('content-type'))) {
      return refuse(415, 'UNSUPPORTED_MEDIA_TYPE', 'Send the operation as Content-Type: application/json.')
    }
    if ((request.method === 'POST' || request.method === 'GET') && !takesOneOf(accept, RESULT_TYPES)) {
      refuse(406, 'NOT_ACCEPTABLE', `Accept one of these media types: ${RESULT_TYPES.join(', ')}.`)
    }
  },
}

function isJson(contentType: string | null): boolean {
  const type = mediaTypeOf(contentType)
  return type !== null && BODY_TYPES.includes(type.essence)
}

/** Returns whether an `Accept` header allows server-sent events. */
export function takesEvents(accept: string | null): boolean {
  return takesOneOf(accept, EVENT_TYPES)
}

/** Selects like Yoga: ignores weights, and accepts only UTF-8. */
function takesOneOf(accept: string | null, types: readonly string[]): boolean {
  const ranges = (accept || '*/*').replace(/[\s"]/g, '').toLowerCase().split(',')
  return ranges.some((range) => {
    const [type = '', ...params] = range.split(';')
    const [main, sub] = type.split('/')
    if (params.some((param) => param.startsWith('charset=') && param !== 'charset=utf-8')) return false
    return types.some((each) => {
      const [ourMain, ourSub] = each.split('/')
      return (main === '*' || main === ourMain) && (sub === '*' || sub === ourSub)
    })
  })
}

function mediaTypeFor(accept: string | null): string {
  const type = accept?.includes('application/graphql-response+json') ? 'graphql-response+json' : 'json'
  return `application/${type}; charset=utf-8`
}
