import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import { CheckForm } from './check-form.tsx'
import type { Site } from './layout.tsx'
import { respondWithPage } from './layout.tsx'
import { UtcTime } from './utc-time.tsx'

/** What went wrong, as a visitor is told. Messages are ours: written for people, and escaped like everything else. */
export type PageError =
  | { readonly status: 400; readonly message: string; readonly input: string }
  | { readonly status: 404 }
  | { readonly status: 429; readonly message: string; readonly resetsAt: Date }
  | { readonly status: 500; readonly requestId: string }
  /** `retryAfter`: in how many seconds. */
  | { readonly status: 503; readonly retryAfter: number }

/** Answers with the error as a page, in the dress of all others. */
export function errorPage(c: Context, site: Site, error: PageError): Response {
  // RFC 9110 §10.2.3 allows the moment itself as well as the seconds until it.
  if (error.status === 429) c.header('retry-after', error.resetsAt.toUTCString())
  if (error.status === 503) {
    c.header('retry-after', String(error.retryAfter))
    c.header('cache-control', 'no-store')
  }
  const { title, content } = explain(error)
  const page = { title: `${title} · Allclear`, description: title, path: null, indexed: false }
  const body = (
    <ErrorContent status={error.status} title={title}>
      {content}
    </ErrorContent>
  )
  return respondWithPage(c, site, page, body, error.status)
}

/** What a page says that stands for an error: its status, what is wrong, and what can be done. */
export function ErrorContent(props: { readonly status: number; readonly title: string; readonly children: Child }) {
  return (
    <div class="error">
      <p class="eyebrow">Error {props.status}</p>
      <h1>{props.title}</h1>
      {props.children}
    </div>
  )
}

function explain(error: PageError): { readonly title: string; readonly content: Child } {
  switch (error.status) {
    case 400:
      return {
        title: 'That cannot be checked',
        content: (
          <>
            <p class="lead" id="problem">
              {error.message}
            </p>
            <CheckForm value={error.input.slice(0, MAX_ECHO)} invalid />
          </>
        ),
      }
    case 404:
      return {
        title: 'There is no such page',
        content: (
          <>
            <p class="lead">The address may be mistyped, or the page has moved. A check can start here:</p>
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
              Checks can be made again from <UtcTime at={error.resetsAt} />.
            </p>
          </>
        ),
      }
    case 503:
      return {
        title: 'This page is not available right now',
        content: (
          <>
            <p class="lead">We cannot reach our database at the moment. Reload this page in a few seconds.</p>
          </>
        ),
      }
    case 500:
      return {
        title: 'Something went wrong here',
        content: (
          <>
            <p class="lead">The fault is ours, and it has been logged. Trying again in a moment may help.</p>
            <p>
              If it does not, tell the operator this number: <code>{error.requestId}</code>
            </p>
          </>
        ),
      }
  }
}

/** The most characters of a visitor's input that are put back into the box; longer is never a target (RFC 1035: 253). */
const MAX_ECHO = 255
