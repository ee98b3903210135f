import { expect, onTestFinished, test, vi } from 'vitest'
import type { Database } from '../../src/core/context.ts'
import { Conflict } from '../../src/core/errors.ts'
import { importIncidents } from '../../src/status/incident/incident-import.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { scheduleMaintenance } from '../../src/status/maintenance/maintenance.ts'
import { hasRoom, noteCounted, roomFor, storedLimits, takeUncounted } from '../../src/status/stored-limits.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { statementsOf } from '../support/statements.ts'
import { tenantsOf } from './setup.ts'

const { prisma, pool } = await testDatabase()
const tenant = tenantsOf(prisma)

/** Makes a limit small, so that few rows reach it. */
function limitTo(of: keyof typeof storedLimits, limit: number): void {
  const before = storedLimits[of].limit
  onTestFinished(() => void Object.assign(storedLimits[of], { limit: before }))
  Object.assign(storedLimits[of], { limit })
}

const incident = { title: 'A', status: 'INVESTIGATING', impact: 'MINOR', message: 'First.' }

test('an organization has room for a number of incidents, and others for theirs', async () => {
  limitTo('Incident', 3)
  const [{ ctx, id }, other] = [await tenant('TEAM'), await tenant('TEAM')]
  await pool.query(
    `INSERT INTO "Incident" (id, "organizationId", title, status, impact, "startedAt", "createdAt")
     SELECT 'inc_' || $1 || each, $1, 'A', 'RESOLVED', 'NONE', now(), now() FROM generate_series(1, $2::int) AS each`,
    [id, 2],
  )
  const last = await createIncident(ctx, incident)
  await expect(createIncident(ctx, incident)).rejects.toThrow(Conflict)
  await createIncident(other.ctx, incident)
  await prisma.incident.delete({ where: { id: last.id } })
  await createIncident(ctx, incident)
  expect(await roomFor(ctx, 'Incident', id)).toBe(0)
})

test('an organization has room for fewer maintenances that have not ended', async () => {
  limitTo('PlannedMaintenance', 10)
  const { ctx, id } = await tenant('TEAM')
  const planned = { title: 'A', message: 'Soon.', startsAt: noon, endsAt: new Date(noon.getTime() + 3_600_000) }
  await scheduleMaintenance(ctx, planned)
  await pool.query(
    `INSERT INTO "Maintenance" (id, "organizationId", title, status, "startsAt", "endsAt", "createdAt")
     SELECT 'mnt_' || $1 || each, $1, 'A', CASE WHEN each > 10 THEN 'SCHEDULED' ELSE 'COMPLETED' END::"MaintenanceStatus", now(), now(), now()
     FROM generate_series(1, $2::int) AS each`,
    [id, 19],
  )
  const last = await prisma.maintenance.findFirstOrThrow({ where: { organizationId: id, status: 'SCHEDULED' } })
  await expect(scheduleMaintenance(ctx, planned)).rejects.toThrow('as many as it may have')
  await prisma.maintenance.update({ where: { id: last.id }, data: { status: 'CANCELLED' } })
  await scheduleMaintenance(ctx, planned)
})

test('an import skips new records beyond what is remembered, and repeats the others', async () => {
  limitTo('ImportedRecord', 12)
  const { ctx, id } = await tenant('TEAM')
  const record = (key: string, title = 'A') => ({
    ...{ id: key, title, impact: 'MINOR', startedAt: '2026-01-01T00:00:00Z', resolvedAt: '2026-01-01T01:00:00Z' },
    updates: [{ status: 'RESOLVED', message: 'Over.', at: '2026-01-01T01:00:00Z', services: [] }],
  })
  const run = (...incidents: object[]) =>
    importIncidents(ctx, { source: 'Cachet', installation: 'Cachet', dryRun: false }, incidents)
  expect(await run(record('first'))).toMatchObject([{ outcome: 'CREATED' }])
  await pool.query(
    `INSERT INTO "ImportedRecord" ("organizationId", source, kind, "recordId", "objectId", digest, version, "importedAt")
     SELECT $1, 'other', 'INCIDENT', each, 'gone', '', 1, now() FROM generate_series(1, $2::int) AS each`,
    [id, 10],
  )
  expect(await run(record('first', 'B'), record('second'), record('third'))).toMatchObject([
    { outcome: 'CHANGED' },
    { outcome: 'CREATED' },
    {
      outcome: 'SKIPPED',
      reason: 'The organization has 12 remembered records of imports, as many as it may have.',
    },
  ])
  expect(await run(record('first', 'B'), record('second'))).toMatchObject([
    { outcome: 'UNCHANGED' },
    { outcome: 'UNCHANGED' },
  ])
})

test('rows are counted again once a twentieth of the room is taken', async () => {
  const { id } = await tenant('TEAM')
  const counts = vi.fn(async () => [{ count: 99_900 }])
  const db = { $queryRaw: counts } as unknown as Pick<Database, '$queryRaw'>
  const taken: boolean[] = []
  for (let n = 0; n < 12; n++) taken.push(await hasRoom({ db }, 'Incident', id))
  // One that counted, and five that did not, twice.
  expect(counts).toHaveBeenCalledTimes(2)
  counts.mockResolvedValue([{ count: 100_000 }])
  expect([await hasRoom({ db }, 'Incident', id), await hasRoom({ db }, 'Incident', id)]).toEqual([false, false])
  expect(counts).toHaveBeenCalledTimes(4)
  expect(taken).toEqual(Array(12).fill(true))
})

test('twenty processes that count by themselves do not exceed a limit', async () => {
  const { id } = await tenant('TEAM')
  noteCounted('Incident', id, 40_000)
  let taken = 0
  while (takeUncounted('Incident', id)) taken += 1
  expect(taken * 20).toBeLessThanOrEqual(60_000)
  expect(taken).toBeGreaterThan(1000)
})

test('creating an incident counts the others rarely', async () => {
  const { ctx, id } = await tenant('TEAM')
  await createIncident(ctx, incident)
  const statements = await statementsOf(() => createIncident(ctx, incident))
  expect(statements.some((sql) => sql.includes('FROM "Incident" WHERE TRUE'))).toBe(false)
  expect(takeUncounted('Incident', id)).toBe(true)
})
