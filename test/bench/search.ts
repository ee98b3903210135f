import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../src/core/id.ts'
import { DAY } from '../../src/core/time.ts'
import { openDatabase } from '../../src/database/client.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { timelineSearch } from '../../src/status/search.ts'
import { silent } from '../support/scratch.ts'
import { ownDatabase } from './postgres.ts'
import { line, median, title, verdict } from './report.ts'

const incidents = 1000
const updates = 500
const rounds = 3
/** The maximum number of candidates that one statement examines. */
const batch = 500

/**
 * (j) A search for a word that only the oldest of many updates contains, and how long others wait for the database
 * meanwhile.
 */
export async function search(dataDir: string): Promise<void> {
  const all = (incidents * updates).toLocaleString('en')
  title(`(j) A search for a rare word in ${all} updates (medians of ${rounds})`)
  await on('embedded', dataDir)
  const server = await ownDatabase()
  if (typeof server === 'string') return line(`PostgreSQL: left out: ${server}`)
  try {
    await on('PostgreSQL', dataDir, server.url)
  } finally {
    await server.remove()
  }
}

async function on(name: string, dataDir: string, databaseUrl?: string): Promise<void> {
  const database = await openDatabase({ dataDir, databaseUrl, log: silent })
  try {
    const { prisma } = database
    const ids = await fill(prisma)
    const all: { readonly took: number; readonly waited: number; readonly used: number }[] = []
    for (let round = 0; round < rounds; round++) all.push(await measured(prisma, ids))
    const [took, waited, used] = (['took', 'waited', 'used'] as const).map((of) => median(all.map((one) => one[of])))
    const seconds = [took, used].map((ms) => ((ms ?? 0) / 1000).toFixed(2))
    line(`${name}: ${seconds[0]} s, of which this process computed ${seconds[1]} s`)
    verdict(`${name}: the longest that another statement waited meanwhile, in ms`, waited ?? 0, { most: 50 })
  } finally {
    await database.close()
  }
}

/** Searches once, while another caller continuously reads a row. */
async function measured(prisma: PrismaClient, ids: readonly string[]) {
  const begun = performance.now()
  const before = process.cpuUsage()
  let longest = 0
  let searching = true
  const caller = async () => {
    while (searching) {
      const asked = performance.now()
      await prisma.$queryRaw`SELECT title FROM "Incident" WHERE id = ${ids[0]}`
      longest = Math.max(longest, performance.now() - asked)
      await sleep(5)
    }
  }
  const calling = caller()
  const find = timelineSearch({ db: prisma, clientAddress: null }, 'Incident', 'rareword')
  const found = new Set<string>()
  for (let from = 0; from < ids.length; from += batch) {
    for (const id of await find(ids.slice(from, from + batch).map((id) => ({ id })))) found.add(id)
  }
  searching = false
  await calling
  if (found.size !== 1) throw new Error(`The search found ${found.size} incidents`)
  const { user, system } = process.cpuUsage(before)
  return { took: performance.now() - begun, waited: longest, used: (user + system) / 1000 }
}

/** Creates incidents with updates of 50 bytes each, below the limit of one search. Returns their ids. */
async function fill(prisma: PrismaClient): Promise<string[]> {
  const [organizationId, now] = [newId('Organization'), new Date()]
  const slug = `search-${organizationId.slice(-8)}`
  const organization = { id: organizationId, slug, name: 'Search', contactEmail: 'ops@search.example' }
  await prisma.organization.create({ data: { ...organization, createdAt: now } })
  const ids = Array.from({ length: incidents }, () => newId('Incident'))
  const incident = { organizationId, title: 'Slow', impact: 'MINOR', status: 'RESOLVED' } as const
  const startedAt = new Date(now.getTime() - DAY)
  await prisma.incident.createMany({ data: ids.map((id) => ({ ...incident, id, startedAt, createdAt: startedAt })) })
  for (let from = 0; from < incidents; from += 50) {
    await prisma.$executeRaw`
      INSERT INTO "IncidentUpdate" (id, "organizationId", "incidentId", status, message, "createdAt")
      SELECT 'upd_' || substr(md5(incident || n), 1, 24), ${organizationId}, incident, 'IDENTIFIED',
        CASE WHEN incident = ${ids.at(-1)} AND n = 1 THEN 'A rareword' ELSE 'We are still looking into it, minute ' || n END,
        ${startedAt}::timestamptz + n * interval '1 minute'
      FROM unnest(${ids.slice(from, from + 50)}::text[]) AS incident, generate_series(1, ${updates}::int) AS n`
  }
  await prisma.$executeRaw`ANALYZE "IncidentUpdate"`
  return ids
}
