import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import type { DnsServer } from '../../src/core/config.ts'
import { newId } from '../../src/core/id.ts'
import { ownDatabase } from './postgres.ts'
import { line, median, roundsOf, title, verdict } from './report.ts'
import { type Service, startService } from './service.ts'

const rounds = roundsOf(5)
/**
 * The number of warm-up rounds: a real service has run for longer, and its compilers take some 2,000 changes to settle.
 */
const warmUps = 6
const organizations = 64
/** Mutations per round, of one client, and of each organization when all write at once. */
const alone = 60
const each = 4

/** (l) Changes over GraphQL, beside bare `pg` that writes the same rows in the same transaction, alternately. */
export async function mutations(dns: DnsServer, dataDir: string): Promise<void> {
  title(`(l) Changes on the embedded database, by turns, medians of ${rounds} rounds`)
  await measure(dns, dataDir, null)
  const database = await ownDatabase()
  if (typeof database === 'string') return title(`Changes on PostgreSQL: skipped (${database})`)
  title(`(l) Changes on PostgreSQL, beside bare pg, by turns, medians of ${rounds} rounds`)
  await measure(dns, dataDir, database.url).finally(() => database.remove())
}

/** Writes the rows of a change for an organization. */
type Write = (tenant: Tenant) => Promise<unknown>

interface Tenant {
  readonly key: string
  readonly id: string
  readonly serviceId: string
  /** The incident with the updates by the service, and the one with those by bare pg, because timelines are limited. */
  readonly incidentId: string
  readonly bareIncidentId: string
}

async function measure(dns: DnsServer, dataDir: string, url: string | null): Promise<void> {
  const settings = url === null ? {} : { DATABASE_URL: url }
  const service = await startService(dns, dataDir, { ...settings, ROLE: 'web', LOG_LEVEL: 'fatal' })
  const pool = url === null ? null : new pg.Pool({ connectionString: url, max: 10 })
  const agent = new Agent({ keepAlive: true, maxSockets: organizations })
  const send = sender(service.port, agent)
  try {
    const tenants = await Promise.all(Array.from({ length: organizations }, (_, number) => newTenant(send, number)))
    // Timelines are limited.
    const withIncidents = () => Promise.all(tenants.map((tenant) => newIncidents(send, tenant)))
    for (const [name, write, bare] of [
      ['createIncident', create(send), pool && bareCreate(pool)],
      ['postIncidentUpdate', post(send), pool && barePost(pool)],
    ] as const) {
      await compare(name, { service, withIncidents, write, bare })
    }
  } finally {
    agent.destroy()
    await pool?.end()
    await service.stop()
  }
}

async function compare(
  name: string,
  parts: {
    readonly service: Service
    readonly withIncidents: () => Promise<readonly Tenant[]>
    readonly write: Write
    readonly bare: Write | null
  },
): Promise<void> {
  const { service, withIncidents, write, bare } = parts
  const figures = { one: [] as Run[], all: [] as Run[], bareOne: [] as Run[], bareAll: [] as Run[] }
  const run = (who: readonly Tenant[], count: number, work: Write) => rateOf(service.pid, who, count, work)
  for (let round = 0; round < warmUps + rounds; round++) {
    const tenants = await withIncidents()
    const first = tenants.slice(0, 1)
    figures.one.push(await run(first, alone, write))
    if (bare) figures.bareOne.push(await run(first, alone, bare))
    figures.all.push(await run(tenants, each, write))
    if (bare) figures.bareAll.push(await run(tenants, each, bare))
  }
  for (const runs of Object.values(figures)) runs.splice(0, warmUps)
  const rate = (runs: readonly Run[]) => median(runs.map(({ perSecond }) => perSecond))
  const busy = (runs: readonly Run[]) => median(runs.map(({ busyMs }) => busyMs)).toFixed(2)
  line(`${name}: one client ${rate(figures.one).toFixed(0)}/s, ${busy(figures.one)} ms of main thread each`)
  line(`  ${organizations} organizations at once ${rate(figures.all).toFixed(0)}/s, ${busy(figures.all)} ms each`)
  line(`  ${organizations} organizations / one: ${(rate(figures.all) / rate(figures.one)).toFixed(2)}`)
  if (!bare) return
  line(`  bare pg: one ${rate(figures.bareOne).toFixed(0)}/s, all at once ${rate(figures.bareAll).toFixed(0)}/s`)
  verdict(`${name}: one client / bare pg`, ratio(figures.one, figures.bareOne), { least: 0.5 })
  // Bare pg itself is not three times as fast with all clients as the service is with one, on two processors for
  // everything.
  line(`  bare pg, ${organizations} organizations / one: ${(rate(figures.bareAll) / rate(figures.bareOne)).toFixed(2)}`)
  verdict(`${name}: all at once / bare pg`, ratio(figures.all, figures.bareAll), { least: 0.5 })
}

interface Run {
  readonly perSecond: number
  /** The service's main-thread time per change, in milliseconds. */
  readonly busyMs: number
}

const ratio = (runs: readonly Run[], others: readonly Run[]) =>
  median(runs.map(({ perSecond }, round) => perSecond / (others[round]?.perSecond ?? Number.NaN)))

async function rateOf(pid: number, tenants: readonly Tenant[], count: number, write: Write): Promise<Run> {
  const before = mainThread(pid)
  const begun = performance.now()
  await Promise.all(
    tenants.map(async (tenant) => {
      for (let number = 0; number < count; number++) await write(tenant)
    }),
  )
  const total = tenants.length * count
  return {
    perSecond: total / ((performance.now() - begun) / 1000),
    busyMs: (mainThread(pid) - before) / total,
  }
}

/** Milliseconds of processor time of a process's main thread. */
const mainThread = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

type Send = (key: string, query: string, variables?: object) => Promise<Record<string, Record<string, never>>>

const sender =
  (port: number, agent: Agent): Send =>
  async (key, query, variables) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
    const sent = request({ host: '127.0.0.1', port, path: '/graphql', method: 'POST', agent, headers })
    sent.end(JSON.stringify({ query, variables }))
    const [response] = await once(sent, 'response')
    const { data, errors } = JSON.parse(await text(response))
    if (errors) throw new Error(JSON.stringify(errors))
    return data
  }

async function newTenant(send: Send, number: number): Promise<Tenant> {
  const slug = `writer-${Date.now().toString(36)}-${number}`
  const { createOrganization } = await send(
    'token-of-the-bench',
    `mutation { createOrganization(input: { name: "Writer", slug: "${slug}", contactEmail: "a@b.example" }) {
      ... on CreateOrganizationPayload { organization { id } apiKey { secret } } } }`,
  )
  const { organization, apiKey } = createOrganization as unknown as {
    readonly organization: { readonly id: string }
    readonly apiKey: { readonly secret: string }
  }
  const key = apiKey.secret
  const { createService } = await send(
    key,
    'mutation { createService(input: { name: "API" }) { ... on Service { id } } }',
  )
  const serviceId = String(createService?.['id'])
  return { key, id: organization.id, serviceId, incidentId: '', bareIncidentId: '' }
}

async function newIncidents(send: Send, tenant: Tenant): Promise<Tenant> {
  const newIncident = async () => String((await create(send)(tenant))['createIncident']?.['id'])
  return { ...tenant, incidentId: await newIncident(), bareIncidentId: await newIncident() }
}

let messages = 0
/** Returns a different message each time, like those of people. */
const newMessage = () => `We look into it, and write again by ${messages++}.`

const create = (send: Send) => (tenant: Tenant) =>
  send(
    tenant.key,
    'mutation ($input: CreateIncidentInput!) { createIncident(input: $input) { ... on Incident { id title status } ... on Error { message } } }',
    {
      input: {
        title: 'Slow',
        status: 'INVESTIGATING',
        impact: 'MINOR',
        message: newMessage(),
        services: affected(tenant),
      },
    },
  )

const post = (send: Send) => (tenant: Tenant) =>
  send(
    tenant.key,
    'mutation ($input: PostIncidentUpdateInput!) { postIncidentUpdate(input: $input) { ... on IncidentUpdate { id status } ... on Error { message } } }',
    {
      input: { incidentId: tenant.incidentId, status: 'IDENTIFIED', message: newMessage(), services: affected(tenant) },
    },
  )

const affected = ({ serviceId }: Tenant) => [{ serviceId, status: 'DEGRADED_PERFORMANCE' }]

/** Runs statements in a transaction that holds the organization's lock, and appends an event. */
const bareChange =
  (pool: pg.Pool, work: (client: pg.PoolClient, tenant: Tenant) => Promise<readonly [string, string, string]>): Write =>
  async (tenant) => {
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query('SELECT "deletedAt" FROM "Organization" WHERE id = $1 FOR NO KEY UPDATE', [tenant.id])
    const [kind, subjectId, updateId] = await work(client, tenant)
    const { rows } = await client.query(
      'UPDATE "Organization" SET "lastSeq" = "lastSeq" + 1 WHERE id = $1 RETURNING "lastSeq"',
      [tenant.id],
    )
    await client.query(
      `INSERT INTO "Event" ("organizationId", seq, kind, at, "actorKind", "subjectId", "subjectName", "updateId")
       VALUES ($1, $2, $3, $4, 'SYSTEM', $5, 'Slow', $6)`,
      [tenant.id, rows[0].lastSeq, kind, new Date(), subjectId, updateId],
    )
    await client.query('SELECT pg_notify($1, $2)', ['event_log', tenant.id])
    await client.query('COMMIT')
    client.release()
  }

const bareCreate = (pool: pg.Pool) =>
  bareChange(pool, async (client, { id, serviceId }) => {
    const incidentId = newId('Incident')
    await client.query(
      `INSERT INTO "Incident" (id, "organizationId", title, status, impact, "startedAt", "createdAt")
       VALUES ($1, $2, 'Slow', 'INVESTIGATING', 'MINOR', $3, $3)`,
      [incidentId, id, new Date()],
    )
    await client.query(`INSERT INTO "IncidentService" VALUES ($1, $2, 'DEGRADED_PERFORMANCE')`, [incidentId, serviceId])
    return ['INCIDENT_CREATED', incidentId, await bareUpdate(client, id, incidentId, serviceId)]
  })

const barePost = (pool: pg.Pool) =>
  bareChange(pool, async (client, { id, serviceId, bareIncidentId: incidentId }) => {
    await client.query(
      `UPDATE "Incident" SET status = 'IDENTIFIED', automatic = false, version = version + 1 WHERE id = $1`,
      [incidentId],
    )
    await client.query(
      `INSERT INTO "IncidentService" VALUES ($1, $2, 'DEGRADED_PERFORMANCE')
       ON CONFLICT ("incidentId", "serviceId") DO UPDATE SET status = EXCLUDED.status`,
      [incidentId, serviceId],
    )
    return ['INCIDENT_UPDATE_POSTED', incidentId, await bareUpdate(client, id, incidentId, serviceId)]
  })

async function bareUpdate(client: pg.PoolClient, id: string, incidentId: string, serviceId: string): Promise<string> {
  const updateId = newId('IncidentUpdate')
  await client.query(
    `INSERT INTO "IncidentUpdate" (id, "organizationId", "incidentId", status, message, html, "htmlVersion", "createdAt")
     VALUES ($1, $2, $3, 'INVESTIGATING', $4, '<p>We look into it.</p>', 1, $5)`,
    [updateId, id, incidentId, newMessage(), new Date()],
  )
  await client.query(`INSERT INTO "IncidentUpdateService" VALUES ($1, $2, 'DEGRADED_PERFORMANCE')`, [
    updateId,
    serviceId,
  ])
  return updateId
}
