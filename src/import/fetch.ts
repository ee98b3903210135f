import { parseUrl } from '../core/url.ts'
import { invalid } from '../core/validation.ts'
import type { Send } from '../network/send.ts'
import type { Source } from './source-names.ts'
import { Fields, readJson } from './translation.ts'

/** What a source is asked with. The key is not kept. */
interface Asked {
  /** Of a status page, or the id of one. */
  readonly address: string
  readonly key: string
}

/** Returns the JSON of an answer. */
type Ask = (request: {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}) => Promise<unknown>

const REQUEST_LIMITS = { timeoutMs: 15_000, maxBytes: 5_000_000 }
/** How many requests a source may take: more than 2,000 monitors are refused anyway. */
const MAX_REQUESTS = 50

/** Fetches what the file of a source would hold. */
type Fetch = (ask: Ask, asked: Asked) => Promise<unknown>

const fetchers: Partial<Record<Source, Fetch>> = {
  statuspage: (ask, { address }) => ask({ url: new URL('/api/v2/summary.json', originOf(address)).href }),
  cachet: fetchCachet,
  uptimerobot: fetchUptimeRobot,
  betterstack: fetchBetterStack,
  instatus: fetchInstatus,
  hetrixtools: fetchHetrixTools,
}

/** What each source that can be fetched is asked with. */
const asked: Partial<Record<Source, { readonly address: boolean; readonly key: boolean }>> = {
  statuspage: { address: true, key: false },
  cachet: { address: true, key: false },
  uptimerobot: { address: false, key: true },
  betterstack: { address: false, key: true },
  instatus: { address: true, key: true },
  hetrixtools: { address: false, key: true },
}

/** Returns what a source is asked with; null: it cannot be fetched. */
export const askedOf = (source: Source) => asked[source] ?? null

/**
 * Fetches the file of a source from where it runs. The key goes into requests to it alone.
 * @param send in the service, one through the outbound client. @throws Invalid when it does not answer, or with something else.
 */
export async function fetchSource(send: Send, source: Source, given: Asked): Promise<Uint8Array> {
  const fetchFrom = fetchers[source]
  if (fetchFrom === undefined) throw invalid([{ path: ['file'], message: 'must be chosen, or its text be pasted' }])
  return Buffer.from(JSON.stringify(await fetchFrom(createAsk(send, source), given)))
}

function createAsk(send: Send, source: Source): Ask {
  const refused = (message: string) => refusedIn(hasOwnAddress(source) ? 'address' : 'key', message)
  let count = 0
  return async ({ url, headers = {}, body }) => {
    count += 1
    if (count > MAX_REQUESTS) throw refused('has more pages of answers than an organization takes')
    const method = body === undefined ? 'GET' : 'POST'
    const own = { accept: 'application/json', ...headers }
    const sent = { method, url, headers: own, ...(body !== undefined && { body }) } as const
    const { status, body: text } = await send(sent, REQUEST_LIMITS).catch((error: Error) => {
      throw refused(`does not answer: ${error.message.replace(/\.$/, '')}`)
    })
    if (status === 401 || status === 403) throw refused(`refuses us with status ${status}: check the key`)
    if (status !== 200) throw refused(`answers with status ${status}`)
    try {
      return readJson(text)
    } catch {
      throw refused('answers with no JSON')
    }
  }
}

/** Whether the page itself is asked, at the address that somebody typed. */
const hasOwnAddress = (source: Source) => source === 'statuspage' || source === 'cachet'

const refusedIn = (field: 'address' | 'key', message: string) =>
  invalid([{ path: [field], message: `the source ${message}` }])

/** Returns the origin of an address that a person typed. */
function originOf(address: string): string {
  const text = /^https?:\/\//i.test(address) ? address : `https://${address}`
  const url = parseUrl(text)
  if (url === null || address === '')
    throw invalid([{ path: ['address'], message: 'must be the address of a page, such as status.example.com' }])
  return url.origin
}

/** Version 3 has its groups beside its components, version 2 at an address of their own. */
async function fetchCachet(ask: Ask, { address }: Asked): Promise<unknown> {
  const origin = originOf(address)
  const list = (path: string) => ask({ url: `${origin}/api/${path}per_page=200` })
  try {
    return await list('components?include=group&')
  } catch {
    return { components: await list('v1/components?'), groups: await list('v1/components/groups?') }
  }
}

async function fetchUptimeRobot(ask: Ask, { key }: Asked): Promise<unknown> {
  const monitors: unknown[] = []
  for (;;) {
    const form = {
      api_key: key,
      format: 'json',
      limit: '50',
      offset: String(monitors.length),
      custom_http_headers: '1',
    }
    const answer = new Fields(
      await ask({
        url: 'https://api.uptimerobot.com/v2/getMonitors',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
      }),
    )
    if (answer.text('stat') !== 'ok') throw refusedIn('key', 'refuses it')
    const page = answer.list('monitors')
    monitors.push(...page)
    if (page.length === 0 || monitors.length >= (answer.fields('pagination').number('total') ?? 0)) return { monitors }
  }
}

async function fetchBetterStack(ask: Ask, { key }: Asked): Promise<unknown> {
  const data: unknown[] = []
  for (let page = 1; ; page++) {
    const url = `https://uptime.betterstack.com/api/v2/monitors?per_page=250&page=${page}`
    const answer = new Fields(await ask({ url, headers: { authorization: `Bearer ${key}` } }))
    data.push(...answer.list('data'))
    if (answer.list('data').length === 0 || answer.fields('pagination').text('next') === '') return { data }
  }
}

const INSTATUS_PAGE = 100

async function fetchInstatus(ask: Ask, { address, key }: Asked): Promise<unknown> {
  const components: unknown[] = []
  for (let page = 1; ; page++) {
    const base = `https://api.instatus.com/v2/${encodeURIComponent(address)}/components`
    const headers = { authorization: `Bearer ${key}` }
    const answer = await ask({ url: `${base}?page=${page}&per_page=${INSTATUS_PAGE}`, headers })
    const list = Array.isArray(answer) ? answer : new Fields(answer).list('components')
    components.push(...list)
    if (list.length < INSTATUS_PAGE) return { components }
  }
}

/** Its documentation: at most 1,024 monitors a page (docs.hetrixtools.com/api/v3). */
const HETRIX_TOOLS_PAGE = 1024

async function fetchHetrixTools(ask: Ask, { key }: Asked): Promise<unknown> {
  const monitors: unknown[] = []
  for (let page = 1; ; page++) {
    const url = `https://api.hetrixtools.com/v3/blacklist-monitors?per_page=${HETRIX_TOOLS_PAGE}&page=${page}`
    const list = new Fields(await ask({ url, headers: { authorization: `Bearer ${key}` } })).list('monitors')
    monitors.push(...list)
    if (list.length < HETRIX_TOOLS_PAGE) return { monitors }
  }
}
