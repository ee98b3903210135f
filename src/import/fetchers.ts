import { invalid } from '../core/validation.ts'
import { Fields } from './fields.ts'
import type { Source } from './source-names.ts'
import { type Ask, type Asked, originOf, Refused } from './source-request.ts'

/** Builds a JSON file from several answers, serializing them as they arrive. */
class Collected {
  readonly #lists = new Map<string, string[]>()
  readonly #values: string[] = []

  /** Adds items to a list. */
  add(name: string, items: readonly unknown[]): void {
    const list = this.#lists.get(name) ?? []
    this.#lists.set(name, list)
    if (items.length > 0) list.push(JSON.stringify(items).slice(1, -1))
  }

  /** Adds a field. */
  set(name: string, value: unknown): void {
    this.#values.push(`${JSON.stringify(name)}:${JSON.stringify(value ?? null)}`)
  }

  /** Records that the source refuses a list. Ignores 404, which means that the list does not exist. */
  refuse(name: string, { status }: Refused): void {
    const isNew = !this.#lists.get('refused')?.includes(JSON.stringify(`${name} ${status}`))
    if (status !== 404 && isNew) this.add('refused', [`${name} ${status}`])
  }

  /** Returns the file as JSON. */
  text(): string {
    const lists = [...this.#lists].map(([name, parts]) => `${JSON.stringify(name)}:[${parts.join(',')}]`)
    return `{${[...this.#values, ...lists].join(',')}}`
  }
}

/** Fetches the data of a source. */
type Fetch = (ask: Ask, asked: Asked) => Promise<Collected>

/** A paged list of a source. */
interface Paged {
  readonly file: Collected
  /** The name of the list in the file. */
  readonly name: string
  /** Reads a page, counted from 1. */
  readonly read: (page: number) => Promise<readonly unknown[]>
  /** The number of items on a full page. */
  readonly size: number
}

/** The maximum number of pages of a list: 5,000 items. */
const MAX_PAGES = 50

/** The maximum number of incidents whose updates are read with one request each. */
const MAX_DETAILS = 60

/** Reads a list to its end or to the page limit, which it records in the file. */
async function readPages({ file, name, read, size }: Paged): Promise<void> {
  let before = ''
  file.add(name, [])
  for (let page = 1; page <= MAX_PAGES; page++) {
    const items = await read(page)
    const [first] = items
    const key = JSON.stringify(first ?? null)
    // A source that ignores the parameter returns the same page forever.
    if (items.length === 0 || key === before) return
    before = key
    file.add(name, items)
    if (items.length < size) return
  }
  file.add('not_read', [name])
}

/** Reads an optional list. Records a refusal in the file. */
async function ifAllowed(file: Collected, name: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    file.refuse(name, error)
  }
}

/** The fetcher of each source. */
export const fetchers: Partial<Record<Source, Fetch>> = {
  statuspage: (ask, asked) => (asked.key === '' ? fetchPublicStatuspage(ask, asked) : fetchStatuspage(ask, asked)),
  cachet: fetchCachet,
  uptimerobot: fetchUptimeRobot,
  betterstack: fetchBetterStack,
  instatus: fetchInstatus,
  hetrixtools: fetchHetrixTools,
}

/** Fetches the public data of a page: components, and the newest 50 incidents and maintenances. */
async function fetchPublicStatuspage(ask: Ask, { address }: Asked): Promise<Collected> {
  const origin = originOf(address)
  const get = async (name: string) => new Fields(await ask({ url: `${origin}/api/v2/${name}.json` }))
  const file = new Collected()
  const summary = await get('summary')
  file.set('page', summary.get('page'))
  if (Array.isArray(summary.get('components'))) file.add('components', summary.list('components'))
  const read = async (name: string, field: string) => {
    const answer = await get(name).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error
      // The summary contains the open incidents and maintenance.
      file.refuse(field, error)
      return summary
    })
    file.add(field, answer.list(field))
  }
  await read('incidents', 'incidents')
  await read('scheduled-maintenances', 'scheduled_maintenances')
  return file
}

const STATUSPAGE = 'https://api.statuspage.io/v1/pages'
const STATUSPAGE_SIZE = 100

/** Fetches all data of a page with a key: of the page at an address, or of the only page. */
async function fetchStatuspage(ask: Ask, { address, key }: Asked): Promise<Collected> {
  const headers = { authorization: `OAuth ${key}` }
  const pages = listIn(await ask({ url: STATUSPAGE, headers }), 'pages').map((each) => new Fields(each))
  const wanted = address
    .replace(/^https?:\/\//i, '')
    .replace(/[/?#].*/s, '')
    .toLowerCase()
  const isWanted = (page: Fields) => {
    const hosts = [
      page.text('id'),
      page.text('domain'),
      page.text('subdomain'),
      `${page.text('subdomain')}.statuspage.io`,
    ]
    return hosts.some((host) => host.toLowerCase() === wanted)
  }
  const page = pages.find(isWanted) ?? (pages.length === 1 ? pages[0] : undefined)
  if (page === undefined)
    throw invalid([{ path: ['address'], message: 'must be the address or id of a page that the key can read' }])
  const base = `${STATUSPAGE}/${encodeURIComponent(page.text('id'))}`
  const file = new Collected()
  file.set('page', { id: page.text('id'), name: page.text('name'), page_description: page.text('page_description') })
  const read = (path: string, name: string, query = '') =>
    readPages({
      ...{ file, name, size: STATUSPAGE_SIZE },
      read: async (number) => {
        const paging = `page=${number}&per_page=${STATUSPAGE_SIZE}&limit=${STATUSPAGE_SIZE}${query}`
        return listIn(await ask({ url: `${base}/${path}?${paging}`, headers }), name)
      },
    })
  await read('components', 'components')
  await ifAllowed(file, 'component_groups', () => read('component-groups', 'component_groups'))
  await read('incidents', 'incidents')
  await ifAllowed(file, 'subscribers', () => read('subscribers', 'subscribers', '&state=active'))
  return file
}

const listIn = (answer: unknown, name: string): readonly unknown[] =>
  Array.isArray(answer) ? answer : new Fields(answer).list(name)

const CACHET_SIZE = 50

/** Fetches from Cachet: version 3 has a JSON:API at `/api`, version 2 its own API at `/api/v1`, with separate updates per incident. */
async function fetchCachet(ask: Ask, { address, key }: Asked): Promise<Collected> {
  const api = `${originOf(address)}/api`
  const headers: Record<string, string> = key === '' ? {} : { authorization: `Bearer ${key}`, 'x-cachet-token': key }
  const get = (path: string) => ask({ url: `${api}/${path}`, headers })
  const first = await get(`components?include=group&per_page=${CACHET_SIZE}&page=1`).catch((error: unknown) => {
    // Without version 3, try version 2. Report other errors.
    if (error instanceof Refused && error.status === 404) return null
    throw error
  })
  const file = new Collected()
  let left = MAX_DETAILS
  const addUpdates = async (incidents: readonly unknown[]) => {
    for (const incident of incidents.map((each) => new Fields(each))) {
      if (left === 0 || Array.isArray(incident.get('updates'))) continue
      left -= 1
      await ifAllowed(file, 'updates', async () => {
        const answer = new Fields(await get(`v1/incidents/${encodeURIComponent(incident.text('id'))}/updates`))
        file.add('updates', answer.list('data'))
      })
    }
  }
  const read = (
    name: string,
    path: string,
    first: unknown = null,
    onPage?: (items: readonly unknown[]) => Promise<void>,
  ) =>
    readPages({
      ...{ file, name, size: CACHET_SIZE },
      read: async (page) => {
        const isFirst = page === 1 && first !== null
        const answer = new Fields(isFirst ? first : await get(`${path}per_page=${CACHET_SIZE}&page=${page}`))
        file.add('included', answer.list('included'))
        await onPage?.(answer.list('data'))
        return answer.list('data')
      },
    })
  if (first !== null) {
    file.set('version', 3)
    await read('components', 'components?include=group&', first)
    await ifAllowed(file, 'groups', () => read('groups', 'component-groups?'))
    await ifAllowed(file, 'incidents', () => read('incidents', 'incidents?include=components,updates&sort=-id&'))
    await ifAllowed(file, 'schedules', () => read('schedules', 'schedules?include=components,updates&sort=-id&'))
    if (key !== '') await ifAllowed(file, 'subscribers', () => read('subscribers', 'subscribers?include=components&'))
    return file
  }
  await read('components', 'v1/components?')
  await ifAllowed(file, 'groups', () => read('groups', 'v1/components/groups?'))
  await ifAllowed(file, 'incidents', () => read('incidents', 'v1/incidents?sort=id&order=desc&', null, addUpdates))
  await ifAllowed(file, 'schedules', () => read('schedules', 'v1/schedules?sort=id&order=desc&'))
  if (key !== '') await ifAllowed(file, 'subscribers', () => read('subscribers', 'v1/subscribers?'))
  return file
}

const UPTIME_ROBOT = 'https://api.uptimerobot.com/v2/'
const UPTIME_ROBOT_SIZE = 50

async function fetchUptimeRobot(ask: Ask, { key }: Asked): Promise<Collected> {
  const file = new Collected()
  const post = async (method: string, offset: number) => {
    const form = {
      ...{ api_key: key, format: 'json', limit: String(UPTIME_ROBOT_SIZE), offset: String(offset) },
      ...{ custom_http_headers: '1', alert_contacts: '1', mwindows: '1' },
    }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = new Fields(
      await ask({ url: `${UPTIME_ROBOT}${method}`, headers, body: new URLSearchParams(form).toString() }),
    )
    // UptimeRobot answers with 200 even for errors.
    if (answer.text('stat') !== 'ok') throw new Refused(401)
    return answer
  }
  const read = (method: string, name: string) =>
    readPages({
      ...{ file, name, size: UPTIME_ROBOT_SIZE },
      read: async (page) => (await post(method, (page - 1) * UPTIME_ROBOT_SIZE)).list(name),
    })
  await read('getMonitors', 'monitors')
  await ifAllowed(file, 'mwindows', () => read('getMWindows', 'mwindows'))
  await ifAllowed(file, 'psps', () => read('getPSPs', 'psps'))
  await ifAllowed(file, 'alert_contacts', () => read('getAlertContacts', 'alert_contacts'))
  return file
}

const BETTER_STACK = 'https://uptime.betterstack.com/api/v2/'
const BETTER_STACK_SIZE = 250

async function fetchBetterStack(ask: Ask, { key }: Asked): Promise<Collected> {
  const file = new Collected()
  const headers = { authorization: `Bearer ${key}` }
  const all = async (name: string, path: string, onItem?: (item: Fields) => void, shown = name) => {
    file.add(shown, [])
    let before = ''
    for (let page = 1; page <= MAX_PAGES; page++) {
      // Does not follow the address of the next page, which the source controls.
      const answer = new Fields(
        await ask({ url: `${BETTER_STACK}${path}?per_page=${BETTER_STACK_SIZE}&page=${page}`, headers }),
      )
      const items = answer.list('data')
      const first = JSON.stringify(items[0] ?? null)
      if (items.length === 0 || first === before) return
      before = first
      file.add(shown, items)
      for (const item of items) onItem?.(new Fields(item))
      if (answer.fields('pagination').text('next') === '') return
    }
    file.add('not_read', [shown])
  }
  await all('monitors', 'monitors', undefined, 'data')
  const pages: string[] = []
  await ifAllowed(file, 'status_pages', () =>
    all('status_pages', 'status-pages', (page) => pages.push(page.text('id'))),
  )
  let reportsLeft = MAX_DETAILS
  for (const id of pages) {
    const base = `status-pages/${encodeURIComponent(id)}`
    await ifAllowed(file, 'sections', () => all('sections', `${base}/sections`))
    await ifAllowed(file, 'resources', () => all('resources', `${base}/resources`))
    await ifAllowed(file, 'subscribers', () => all('subscribers', `${base}/subscribers`))
    const reports: string[] = []
    await ifAllowed(file, 'status_reports', () =>
      all('status_reports', `${base}/status-reports`, (report) => reports.push(report.text('id'))),
    )
    for (const report of reports) {
      if (reportsLeft === 0) break
      reportsLeft -= 1
      await ifAllowed(file, 'status_updates', () =>
        all('status_updates', `${base}/status-reports/${encodeURIComponent(report)}/status-updates`),
      )
    }
  }
  return file
}

const INSTATUS = 'https://api.instatus.com'
const INSTATUS_SIZE = 100

async function fetchInstatus(ask: Ask, { address, key }: Asked): Promise<Collected> {
  const file = new Collected()
  const headers = { authorization: `Bearer ${key}` }
  const id = encodeURIComponent(address)
  const read = (name: string, path: string) =>
    readPages({
      ...{ file, name, size: INSTATUS_SIZE },
      read: async (page) =>
        listIn(await ask({ url: `${INSTATUS}${path}?page=${page}&per_page=${INSTATUS_SIZE}`, headers }), name),
    })
  await read('components', `/v2/${id}/components`)
  await ifAllowed(file, 'pages', () => read('pages', '/v2/pages'))
  await ifAllowed(file, 'incidents', () => read('incidents', `/v1/${id}/incidents`))
  await ifAllowed(file, 'maintenances', () => read('maintenances', `/v2/${id}/maintenances`))
  await ifAllowed(file, 'subscribers', () => read('subscribers', `/v2/${id}/subscribers`))
  file.set('page_id', address)
  return file
}

/** The maximum page size (docs.hetrixtools.com/api/v3). */
const HETRIX_TOOLS_SIZE = 1024

async function fetchHetrixTools(ask: Ask, { key }: Asked): Promise<Collected> {
  const file = new Collected()
  const base = `https://api.hetrixtools.com/v3/blacklist-monitors?per_page=${HETRIX_TOOLS_SIZE}`
  await readPages({
    ...{ file, name: 'monitors', size: HETRIX_TOOLS_SIZE },
    read: async (page) => {
      const answer = await ask({ url: `${base}&page=${page}`, headers: { authorization: `Bearer ${key}` } })
      return new Fields(answer).list('monitors')
    },
  })
  return file
}
