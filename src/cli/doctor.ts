import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { statfs } from 'node:fs/promises'
import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { connect } from 'node:net'
import { parseUrl } from '../core/url.ts'
import { type Command, EXIT, type Service, type Terminal } from './command.ts'
import { type Colour, paint, printable } from './paint.ts'

/** What one examination found, and the line that mends it. */
interface Finding {
  readonly subject: string
  readonly state: 'ok' | 'warning' | 'error'
  readonly message: string
  readonly mend?: string
}

/** How long one examination may take, in milliseconds. */
const TIMEOUT_MS = 5000
const MAX_SKEW_MS = 2000
const MIN_FREE_BYTES = 1024 ** 3

/** Examines a service and what surrounds it. */
export const doctor: Command = {
  usage: '',
  summary: 'Examine a service, its proxy, clock, database, resolver, mail and disk',
  details: `Run it on the machine of the service, with its settings in the environment, to examine the resolver, mail and
disk as well. Exit codes: 0 all is well, 2 something is not, with the line that mends it.`,
  async run({ json }, terminal, service) {
    const { url, client } = await service()
    const findings = (
      await Promise.all([
        reachable(url, terminal),
        websocket(url),
        lists(client),
        resolvers(terminal.env),
        mail(terminal.env),
        database(terminal.env),
        disk(terminal.env),
      ])
    ).flat()
    if (json) terminal.result(JSON.stringify(findings, null, 2))
    else for (const finding of findings) for (const line of linesOf(finding, terminal)) terminal.result(line)
    return findings.some(({ state }) => state !== 'ok') ? EXIT.bad : EXIT.ok
  },
}

function linesOf({ subject, state, message, mend }: Finding, terminal: Terminal): string[] {
  const colours: Readonly<Record<Finding['state'], Colour>> = { ok: 'green', warning: 'yellow', error: 'red' }
  const line = `${paint(terminal, colours[state], state.padEnd(7))}  ${subject.padEnd(9)}  ${printable(message)}`
  return mend === undefined ? [line] : [line, `${' '.repeat(20)}→ ${mend}`]
}

const get = (url: string) => fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' })

/** Asks whether the service is there and ready, by which address it knows itself, and what time it has. */
async function reachable(url: string, terminal: Terminal): Promise<Finding[]> {
  const base = url.replace(/\/+$/, '')
  let health: Response
  try {
    health = await get(`${base}/healthz`)
  } catch (error) {
    const mend = 'Start the service, or give its address: --url https://status.example.com'
    return [{ subject: 'service', state: 'error', message: `${base} does not answer: ${reasonOf(error)}`, mend }]
  }
  if (!health.ok) {
    const mend = 'Let the proxy pass all paths on to the service.'
    return [{ subject: 'service', state: 'error', message: `${base}/healthz answers with HTTP ${health.status}`, mend }]
  }
  return [
    { subject: 'service', state: 'ok', message: `${base} answers` },
    clock(health.headers.get('date'), terminal.now()),
    ...(await readiness(base)),
    await ownAddress(base),
  ]
}

function clock(date: string | null, now: Date): Finding {
  // The header has whole seconds.
  const skew = date === null ? 0 : new Date(date).getTime() + 500 - now.getTime()
  if (Math.abs(skew) <= MAX_SKEW_MS) return { subject: 'clock', state: 'ok', message: 'agrees with this machine’s' }
  const message = `differs from this machine’s by ${(skew / 1000).toFixed(0)} s`
  return { subject: 'clock', state: 'warning', message, mend: 'Set both by NTP: timedatectl set-ntp true' }
}

async function readiness(base: string): Promise<Finding[]> {
  const mends: Readonly<Record<string, string>> = {
    database: 'See the service’s log for what the database says.',
    configuration: 'See “Settings” of the operator’s screens, or the service’s log, for what refuses CONFIG_FILE.',
    backup: 'See “Settings” of the operator’s screens, or the service’s log, and the space in BACKUP_DIR.',
    mail: 'Check SMTP_URL and MAIL_FROM; “Settings” of the operator’s screens sends a test.',
    resolver: 'Run a recursive resolver of your own and set DNS_SERVERS to its address; see /docs/resolver.',
    lateness: 'Start another instance with ROLE=worker in the same region, or make intervals longer.',
  }
  const answer = await get(`${base}/readyz`).catch(() => null)
  if (answer === null || answer.status === 404) return []
  const { checks } = (await answer.json()) as { checks: Record<string, string> }
  return Object.entries(checks).map(([subject, state]) =>
    state === 'ok'
      ? { subject, state: 'ok', message: 'ok' }
      : subject === 'mail' && state === 'off'
        ? noMail
        : {
            subject,
            state: 'error',
            message: state,
            mend: mends[subject] ?? 'See “Health and metrics” in /docs/health.',
          },
  )
}

const noMail: Finding = {
  subject: 'mail',
  state: 'warning',
  message: 'is not set up: nobody gets notifications, invitations or links to sign in by mail',
  mend: 'SMTP_URL=smtp://user:password@host:587 MAIL_FROM=status@example.com',
}

async function ownAddress(base: string): Promise<Finding> {
  const answer = await get(`${base}/openapi.json`).catch(() => null)
  const document = answer?.ok ? ((await answer.json()) as { servers?: { url: string }[] }) : {}
  const known = document.servers?.[0]?.url
  if (known === undefined || new URL(known).origin === new URL(base).origin) {
    return { subject: 'address', state: 'ok', message: 'links lead to the address that you gave' }
  }
  const mend = `Set BASE_URL=${new URL(base).origin}, or give --url ${known}`
  return { subject: 'address', state: 'warning', message: `links lead to ${known}, not to ${base}`, mend }
}

/** Opens a websocket as browsers do: a proxy may not let it through. */
function websocket(url: string): Promise<Finding> {
  const subject = 'websocket'
  const mend = 'Have the proxy pass Upgrade and Connection on, as in deploy/nginx.conf.'
  return new Promise((resolve) => {
    const fail = (message: string) => resolve({ subject, state: 'error', message, mend })
    const send = url.startsWith('https:') ? secureRequest : plainRequest
    const asked = send(`${url.replace(/\/+$/, '')}/graphql`, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-protocol': 'graphql-transport-ws',
        'sec-websocket-key': randomBytes(16).toString('base64'),
      },
      timeout: TIMEOUT_MS,
    })
    asked.on('upgrade', (_, socket) => {
      socket.destroy()
      resolve({ subject, state: 'ok', message: 'pages update live' })
    })
    asked.on('response', (response) => {
      response.resume()
      fail(`is not let through (HTTP ${response.statusCode}): pages do not update live`)
      asked.destroy()
    })
    asked.on('timeout', () => asked.destroy(new Error('no answer')))
    asked.on('error', (error) => fail(reasonOf(error)))
    asked.end()
  })
}

/** Asks the service which lists answer it. */
async function lists(client: Service['client']): Promise<Finding[]> {
  interface Blacklist {
    readonly name: string
    readonly health: { readonly status: string; readonly detail: string | null }
  }
  const subject = 'lists'
  const query = 'query Lists { blacklists { name health { status detail } } }'
  const answer = await client.request<{ blacklists: readonly Blacklist[] }>(query).catch(() => null)
  if (answer === null) return []
  const bad = answer.blacklists.filter(({ health }) => health.status !== 'OK')
  if (bad.length === 0) return [{ subject, state: 'ok', message: `all ${answer.blacklists.length} answer` }]
  const message = bad.map(({ name, health }) => `${name}: ${health.status.toLowerCase()}`).join(', ')
  const mend = 'Run a recursive resolver of your own and set DNS_SERVERS to its address; see /docs/resolver.'
  return [{ subject, state: bad.length === answer.blacklists.length ? 'error' : 'warning', message, mend }]
}

type Environment = Terminal['env']

/** Asks each resolver of the settings for a test entry that lists answer. */
async function resolvers(env: Environment): Promise<Finding[]> {
  const servers = env['DNS_SERVERS']?.split(',').map((server) => server.trim())
  const mend = 'Use a recursive resolver of your own: apt install unbound, then DNS_SERVERS=127.0.0.1'
  return Promise.all(
    (servers ?? []).map(async (server): Promise<Finding> => {
      const subject = 'resolver'
      try {
        const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 })
        resolver.setServers([server])
        const answers = await resolver.resolve4('2.0.0.127.zen.spamhaus.org')
        const isRefused = answers.some((answer) => answer.startsWith('127.255.255.'))
        if (!isRefused) return { subject, state: 'ok', message: `${server} is answered by Spamhaus` }
        return { subject, state: 'error', message: `${server} is refused by Spamhaus: it is a public one`, mend }
      } catch (error) {
        return { subject, state: 'error', message: `${server}: ${reasonOf(error)}`, mend }
      }
    }),
  )
}

/** Asks the mail server of the settings for its greeting. */
async function mail(env: Environment): Promise<Finding[]> {
  const subject = 'mail'
  const setting = env['SMTP_URL']
  if (!setting) return []
  const url = parseUrl(setting)
  if (url === null) {
    return [
      { subject, state: 'error', message: 'SMTP_URL is no address', mend: 'SMTP_URL=smtp://user:password@host:587' },
    ]
  }
  const { hostname, port, protocol } = url
  const number = Number(port) || (protocol === 'smtps:' ? 465 : 587)
  const problem = await greeting(hostname, number, protocol === 'smtps:')
  if (problem === null) return [{ subject, state: 'ok', message: `${hostname} answers on port ${number}` }]
  const mend = 'Check the host and port in SMTP_URL; many networks close port 25, use 587.'
  return [{ subject, state: 'error', message: `${hostname} port ${number}: ${problem}`, mend }]
}

async function database(env: Environment): Promise<Finding[]> {
  const setting = env['DATABASE_URL']
  const url = setting ? parseUrl(setting) : null
  if (url === null) return []
  const { hostname, port } = url
  const problem = await greeting(hostname, Number(port) || 5432, true)
  const message = `${hostname} ${problem ?? 'accepts connections'}`
  const mend = 'Check the host and port in DATABASE_URL, and that the server listens there (listen_addresses).'
  return [
    problem === null
      ? { subject: 'server', state: 'ok', message }
      : { subject: 'server', state: 'error', message, mend },
  ]
}

/** Returns why a server does not greet; null: it does. @param isSilent whether a connection is greeting enough. */
function greeting(host: string, port: number, isSilent: boolean): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS })
    const end = (problem: string | null) => {
      socket.destroy()
      resolve(problem)
    }
    if (isSilent) socket.on('connect', () => end(null))
    socket.on('data', (data) =>
      end(data.toString('latin1').startsWith('220') ? null : 'does not greet as a mail server'),
    )
    socket.on('timeout', () => end('does not answer'))
    socket.on('error', (error) => end(reasonOf(error)))
    socket.on('end', () => end('closes the connection'))
  })
}

/** Measures the room in the data directory. */
async function disk(env: Environment): Promise<Finding[]> {
  const directory = env['DATA_DIR'] || './data'
  const found = await statfs(directory).catch(() => null)
  if (found === null) return []
  const free = found.bavail * found.bsize
  const message = `${(free / 1024 ** 3).toFixed(1)} GiB free for ${directory}`
  if (free >= MIN_FREE_BYTES) return [{ subject: 'disk', state: 'ok', message }]
  return [{ subject: 'disk', state: 'warning', message, mend: 'Free some space, or set DATA_DIR to a larger disk.' }]
}

function reasonOf(error: unknown): string {
  const { cause, code } = error as { readonly cause?: unknown; readonly code?: string }
  if (cause !== undefined) return reasonOf(cause)
  return (error instanceof Error && error.message) || code || String(error)
}
