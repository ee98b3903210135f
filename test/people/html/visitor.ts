import type { ReceivedMail } from '../../support/mail-server.ts'

/** A page as received by a browser that does not follow redirects. */
export interface VisitedPage {
  readonly status: number
  readonly location: string | null
  readonly html: string
  readonly headers: Headers
}

/** A browser without scripts that keeps its cookies. */
export interface Visitor {
  readonly cookies: Map<string, string>
  get(url: string): Promise<VisitedPage>
  /**
   * Sends a form of our own page.
   * @param headers replace its headers.
   */
  post(url: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<VisitedPage>
}

/** @param address the apparent network of the visitor, if the service trusts this machine as a proxy. */
export function newVisitor(baseUrl: string, address = '203.0.113.1'): Visitor {
  const cookies = new Map<string, string>()
  async function send(url: string, init: RequestInit): Promise<VisitedPage> {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const headers = { accept: 'text/html', 'x-forwarded-for': address, ...(cookie && { cookie }), ...init.headers }
    const response = await fetch(new URL(url, baseUrl), { ...init, headers, redirect: 'manual' })
    for (const set of response.headers.getSetCookie()) keep(set)
    return {
      status: response.status,
      location: response.headers.get('location'),
      html: await response.text(),
      headers: response.headers,
    }
  }
  function keep(set: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
    if (/max-age=0/i.test(set)) cookies.delete(name)
    else cookies.set(name, value)
  }
  return {
    cookies,
    get: (url) => send(url, {}),
    post: (url, fields, headers = { 'sec-fetch-site': 'same-origin' }) =>
      send(url, { method: 'POST', body: new URLSearchParams(fields), headers }),
  }
}

/** Returns the value of a hidden field. */
export function hidden({ html }: Pick<VisitedPage, 'html'>, name: string): string {
  return new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? ''
}

/** Returns the path of the only link in an email that begins with a prefix. */
export function pathIn({ text = '' }: Pick<ReceivedMail, 'text'>, path: string): string {
  return new RegExp(`${path}/[\\w-]+`).exec(text)?.[0] ?? ''
}
