import { parseUrl } from '../core/url.ts'
import { invalid } from '../core/validation.ts'

/** The input of a fetch. The key is not stored. */
export interface Asked {
  /** The address or id of a status page. */
  readonly address: string
  readonly key: string
}

/** Sends a request and returns the parsed JSON of the answer. */
export type Ask = (request: {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}) => Promise<unknown>

/** The source answered with a status other than 200, such as for an unknown path or an invalid key. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number) {
    super(
      status === 401 || status === 403
        ? `refuses us with status ${status}: check the key`
        : `answers with status ${status}`,
    )
    this.status = status
  }
}

/** Returns the origin of a typed address. @throws Invalid. */
export function originOf(address: string): string {
  const text = /^https?:\/\//i.test(address) ? address : `https://${address}`
  const url = parseUrl(text)
  if (url === null || address === '')
    throw invalid([{ path: ['address'], message: 'must be the address of a page, such as status.example.com' }])
  return url.origin
}
