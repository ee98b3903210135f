import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { DnsServer } from '../../src/core/config.ts'
import { root } from '../../src/core/process/paths.ts'
import { DAY } from '../../src/core/time.ts'
import { startMailServer } from '../support/mail-server.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { uptimeKuma1, uptimeKuma2, uptimeKumaPast, writeDatabase } from '../support/uptime-kuma.ts'
import { line, title, verdict } from './report.ts'
import { type Service, startService } from './service.ts'

const MONITORS = 500
const GROUPS = 25
const DAYS = 365
/** The longest permitted turn of the event loop during an import, in milliseconds. */
const LONGEST_TURN = 50
const TOKEN = 'token-of-the-bench'

/**
 * (s) Uptime Kuma with 500 monitors and a year of history: dry run, import, import again, and the page; then a file of
 * 590 objects.
 */
export async function importing(dns: DnsServer): Promise<void> {
  title(`(s) Moving in: ${MONITORS} monitors of Uptime Kuma with ${DAYS} days, by the command line`)
  const disk = await temporaryDirectory()
  const mail = await startMailServer()
  const target = createServer((_, response) => void response.end('ok')).listen(0, '127.0.0.1')
  await once(target, 'listening')
  const settings = { SMTP_URL: mail.url, ALLOW_PRIVATE_NETWORKS: 'true' }
  const service = await startService(dns, join(disk.path, 'data'), settings)
  try {
    const kuma = join(disk.path, 'kuma.db')
    writeDatabase(kuma, kumaStatements((target.address() as AddressInfo).port))
    line(`The database has ${((await stat(kuma)).size / 1e6).toFixed(1)} MB.`)
    await importKuma(service, kuma)
    if (mail.mails.length > 0) throw new Error(`${mail.mails.length} mails were sent`)
    await planAndApply(service, join(disk.path, 'acme.yaml'))
  } finally {
    await service.stop()
    target.close()
    await mail.close()
    await disk.remove()
  }
}

/** The JSON output of an import by the command line. */
interface Imported {
  readonly changeCount: number
  readonly rows: readonly { readonly outcome: string; readonly section: string; readonly name: string }[]
}

async function importKuma(service: Service, kuma: string): Promise<void> {
  const key = await newOrganization(service, 'kuma')
  const given = ['import', '--from', 'uptime-kuma', kuma, '--json']
  const dry = await measured<Imported>(service, 'dry run', key, given)
  const made = await measured<Imported>(service, 'import', key, [...given, '--apply'])
  const counts = new Map<string, number>()
  for (const { section, outcome, name: row } of made.rows) {
    const name = `${section} ${outcome.toLowerCase()}`
    counts.set(name, (counts.get(name) ?? 0) + Number(/^(\d+) more$/.exec(row)?.[1] ?? 1))
  }
  line(`Rows: ${[...counts].map(([name, count]) => `${count} ${name}`).join(', ')}`)
  if (dry.changeCount !== made.changeCount)
    throw new Error(`The dry run reported ${dry.changeCount} changes, and ${made.changeCount} were made`)
  const again = await measured<Imported>(service, 'dry run again', key, given)
  if (again.changeCount !== 0) throw new Error(`The second plan has ${again.changeCount} changes`)
  const twice = await measured<Imported>(service, 'import again', key, [...given, '--apply'])
  if (twice.changeCount !== 0) throw new Error(`The second import made ${twice.changeCount} changes`)
  await requireTruePage(service)
}

/** The number of days for which the page is compared. */
const SHOWN_DAYS = 30

interface PageAnswer {
  readonly statusPage: {
    readonly serviceGroups: readonly { readonly name: string }[]
    readonly incidents: readonly { readonly title: string }[]
    readonly services: readonly {
      readonly name: string
      readonly importedDays: readonly { readonly up: number; readonly down: number }[]
    }[]
  }
}

/**
 * Compares the page with the database of Uptime Kuma.
 * @throws when they differ.
 */
async function requireTruePage(service: Service): Promise<void> {
  const query = `{ statusPage(slug: "kuma-main") {
    serviceGroups { name } incidents { title } services { name importedDays(n: ${SHOWN_DAYS}) { up down } } } }`
  const { statusPage } = await ask<PageAnswer>(service, TOKEN, query)
  const problems = []
  if (statusPage.services.length !== MONITORS) problems.push(`${statusPage.services.length} services`)
  if (statusPage.serviceGroups.length !== GROUPS) problems.push(`${statusPage.serviceGroups.length} groups`)
  if (statusPage.incidents.map((each) => each.title).join() !== 'Slow') problems.push('other incidents')
  for (const { name, importedDays } of statusPage.services) {
    const number = Number(name.slice('Site '.length))
    const isTrue = importedDays.every(({ up, down }) => up === UP_PER_DAY && down === downOf(number))
    if (!isTrue || importedDays.length !== SHOWN_DAYS) problems.push(`${name}: other days`)
  }
  if (problems.length > 0) throw new Error(`The page is not true: ${problems.slice(0, 5).join('; ')}`)
  line('The page has the services, groups, incident and days of the database.')
}

interface Planned {
  readonly changeCount: number
}

/** Plans and applies a file of 590 objects, then plans it again. */
async function planAndApply(service: Service, file: string): Promise<void> {
  title('(s) A configuration file of 590 objects: 10 groups, 290 services, 290 monitors')
  const key = await newOrganization(service, 'file')
  const all = Array.from({ length: 290 }, (_, number) => number)
  const groups = all.slice(0, 10).map((number) => `  g${number}: { name: Group ${number} }`)
  const services = all.map((number) => `  s${number}: { name: Service ${number}, group: g${number % 10} }`)
  const monitors = all.map(
    (number) =>
      `  m${number}: { name: Monitor ${number}, service: s${number}, http: { url: "http://127.0.0.1:3/${number}" } }`,
  )
  const yaml = ['allclear: 1', 'groups:', ...groups, 'services:', ...services, 'monitors:', ...monitors].join('\n')
  await writeFile(file, yaml)
  const plan = async (what: string) =>
    (await measured<readonly Planned[]>(service, what, key, ['plan', file, '--json']))[0]
  if ((await plan('plan'))?.changeCount !== 590) throw new Error('The plan does not have 590 changes')
  await measured(service, 'apply', key, ['apply', file, '--yes', '--json'])
  if ((await plan('plan again'))?.changeCount !== 0) throw new Error('The second plan is not empty')
  await writeFile(file, yaml.replaceAll('name: Monitor', 'name: Check'))
  await measured(service, 'apply with 290 changes', key, ['apply', file, '--yes', '--json'])
  await rm(file)
}

/** Runs the command line. Prints how long it took, and the longest turn of the service meanwhile. Returns its JSON. */
async function measured<T>(service: Service, what: string, key: string, args: readonly string[]): Promise<T> {
  await service.longestTurn()
  const begun = performance.now()
  const env = { ...process.env, ALLCLEAR_URL: `http://127.0.0.1:${service.port}`, ALLCLEAR_KEY: key }
  const file = fileURLToPath(new URL('dist/allclear.js', root))
  const { stdout, code } = await promisify(execFile)(process.execPath, [file, ...args], { env, maxBuffer: 64e6 }).then(
    (done) => ({ ...done, code: 0 }),
    (error: { stdout: string; stderr: string; code: number }) => error,
  )
  // Exit code 2: there are changes.
  if (code !== 0 && code !== 2) throw new Error(`allclear ${args.join(' ')} ended with ${code}`)
  const seconds = (performance.now() - begun) / 1000
  const turn = await service.longestTurn()
  line(`${what}: ${seconds.toFixed(2)} s`)
  verdict(`${what}: longest turn of the main thread, in ms`, turn, { most: LONGEST_TURN })
  return JSON.parse(stdout) as T
}

/** Creates an organization of a tier with enough room. Returns its key. */
async function newOrganization(service: Service, slug: string): Promise<string> {
  type Created = {
    readonly done: { readonly organization: { readonly id: string }; readonly apiKey: { readonly secret: string } }
  }
  const { done } = await ask<Created>(
    service,
    TOKEN,
    `mutation { done: createOrganization(input: { name: "Bench", slug: "${slug}-${randomBytes(3).toString('hex')}", contactEmail: "ops@acme.example" }) {
      ... on CreateOrganizationPayload { organization { id } apiKey { secret } } ... on Error { message } } }`,
  )
  await ask(
    service,
    TOKEN,
    `mutation { setTier(input: { organizationId: "${done.organization.id}", tier: TEAM }) { ... on Organization { id } ... on Error { message } } }`,
  )
  return done.apiKey.secret
}

async function ask<T>({ port }: Service, key: string, query: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query }),
  })
  const { data, errors } = (await response.json()) as { readonly data?: T; readonly errors?: unknown }
  if (data === undefined) throw new Error(JSON.stringify(errors))
  return data
}

const UP_PER_DAY = 1430
const downOf = (number: number) => number % 10

/**
 * Uptime Kuma 2 with groups, monitors, a page with all of them, a year of days, maintenance, an incident and a channel.
 */
function kumaStatements(port: number): string[] {
  const rows = (count: number, row: (number: number) => string) =>
    Array.from({ length: count }, (_, index) => `(${row(index + 1)})`).join(',')
  const today = Math.floor(Date.now() / DAY) * 86_400
  const groupOf = (number: number) => MONITORS + 1 + (number % GROUPS)
  const config = JSON.stringify({ type: 'ntfy', ntfyserverurl: `http://127.0.0.1:${port}`, ntfytopic: 'ops' })
  return [
    ...[uptimeKuma1, uptimeKuma2, uptimeKumaPast, 'BEGIN'],
    `INSERT INTO monitor (id, name, type, url, interval, maxretries, parent) VALUES ${rows(
      MONITORS,
      (id) => `${id}, 'Site ${id}', 'http', 'http://127.0.0.1:${port}/${id}', 60, 2, ${groupOf(id)}`,
    )}`,
    `INSERT INTO monitor (id, name, type) VALUES ${rows(GROUPS, (number) => `${MONITORS + number}, 'Group ${number}', 'group'`)}`,
    `INSERT INTO notification (id, name, active, config) VALUES (1, 'Ops', 1, '${config}')`,
    'INSERT INTO monitor_notification (monitor_id, notification_id) SELECT id, 1 FROM monitor',
    `INSERT INTO status_page (id, slug, title, description) VALUES (1, 'kuma-main', 'Main', 'All of it')`,
    `INSERT INTO "group" (id, name, weight, status_page_id) VALUES (1, 'All', 1, 1)`,
    `INSERT INTO monitor_group (monitor_id, group_id, weight) SELECT id, 1, id FROM monitor WHERE type <> 'group'`,
    `INSERT INTO maintenance (id, title, description, active, strategy, start_date, end_date, timezone) VALUES
      (1, 'Upgrade', 'All of it', 1, 'single', '2030-12-01 02:00:00', '2030-12-01 04:00:00', 'UTC')`,
    'INSERT INTO maintenance_status_page (status_page_id, maintenance_id) VALUES (1, 1)',
    `INSERT INTO incident VALUES (1, 'Slow', 'We **look**.', 'danger', '2026-11-01 10:00:00', NULL, 1, 1, 1)`,
    `WITH RECURSIVE days(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM days WHERE n < ${DAYS - 1})
      INSERT INTO stat_daily (monitor_id, timestamp, up, down)
      SELECT id, ${today} - n * 86400, ${UP_PER_DAY}, id % 10 FROM monitor, days WHERE type <> 'group'`,
    'COMMIT',
  ]
}
