import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import { CheckForm } from './check-form.tsx'
import type { Site } from './layout.tsx'
import { respondWithPage } from './layout.tsx'
import { UtcTime } from './utc-time.tsx'

/** An error as shown on a page. Messages are our own and are escaped. */
export type PageError =
  | { readonly status: 400; readonly message: string; readonly input: string }
  | { readonly status: 404 }
  | { readonly status: 429; readonly message: string; readonly resetsAt: Date }
  | { readonly status: 500; readonly requestId: string }
  /** `retryAfter`: in seconds. */
  | { readonly status: 503; readonly retryAfter: number }

/** Responds with an error page. */
export function errorPage(c: Context, site: Site, error: PageError): Response {
  // RFC 9110 §10.2.3 allows a date as well as seconds.
  if (error.status === 429) c.header('retry-after', error.resetsAt.toUTCString())
  if (error.status === 503) {
    c.header('retry-after', String(error.retryAfter))
    c.header('cache-control', 'no-store')
  }
  const { title, content } = describeError(error)
  const page = { title: `${title} · Allclear`, description: title, path: null, indexed: false }
  const body = (
    <ErrorContent status={error.status} title={title}>
      {content}
    </ErrorContent>
  )
  return respondWithPage(c, site, page, body, error.status)
}

/** Renders the content of an error page: status, title and advice. */
export function ErrorContent(props: { readonly status: number; readonly title: string; readonly children: Child }) {
  return (
    <div class="error">
      <p class="eyebrow">Error {props.status}</p>
      <h1>{props.title}</h1>
      {props.children}
    </div>
  )
}

function describeError(error: PageError): { readonly title: string; readonly content: Child } {
  switch (error.status) {
    case 400:
      return {
        title: 'Enter an IP address or a domain',
        content: (
          <>
            <p class="lead" id="problem">
              {error.message}
            </p>
            <CheckForm value={error.input.slice(0, MAX_INPUT_LENGTH)} invalid />
          </>
        ),
      }
    case 404:
      return {
        title: 'Page not found',
        content: (
          <>
            <p class="lead">Check the address, or start a blacklist check here:</p>
            <CheckForm />
          </>
        ),
      }
    case 429:
      return {
        title: 'No checks left today',
        content: (
          <>
            <p class="lead">{error.message}</p>
            <p>
              You can check again from <UtcTime at={error.resetsAt} />.
            </p>
          </>
        ),
      }
    case 503:
      return {
        title: 'This page is temporarily unavailable',
        content: (
          <>
            <p class="lead">We can’t reach our database. Reload this page in a few seconds.</p>
          </>
        ),
      }
    case 500:
      return {
        title: 'Something went wrong',
        content: (
          <>
            <p class="lead">We logged the error. Try again in a moment.</p>
            <p>
              If it happens again, give the operator this ID: <code>{error.requestId}</code>
            </p>
          </>
        ),
      }
  }
}

/** The maximum characters of the input that the form repeats; no target is longer (RFC 1035: 253). */
const MAX_INPUT_LENGTH = 255
