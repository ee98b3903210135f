import { beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { timelineSearch } from '../../src/status/search.ts'
import { testDatabase } from '../support/database.ts'
import { tenantsOf } from './setup.ts'

const { prisma: db } = await testDatabase()
const tenantOf = tenantsOf(db)
/** Incidents with long timelines, one update of each containing the incident's word. */
const incidents: { id: string }[] = []

beforeAll(async () => {
  const { id: organizationId, ctx } = await tenantOf()
  const given = { title: 'Slow', message: 'We look.', impact: 'MINOR', status: 'INVESTIGATING' }
  for (const place of [1, 250, 499, 500]) {
    const { id } = await createIncident(ctx, given)
    incidents.push({ id })
    await db.$executeRaw`
      INSERT INTO "IncidentUpdate" (id, "organizationId", "incidentId", status, message, "createdAt")
      SELECT 'upd_' || substr(md5(${id} || n), 1, 24), ${organizationId}, ${id}, 'IDENTIFIED',
        repeat('Still at it. ', 100) || CASE WHEN n = ${place} THEN 'Word' || ${place} ELSE '' END,
        -- Many at the same time.
        '2026-11-20T12:00:00Z'::timestamptz + n / 50 * interval '1 second'
      FROM generate_series(1, 500) AS n`
  }
  incidents.push(await createIncident(ctx, { ...given, title: 'Word1' }))
})

const found = async (text: string) => {
  const hits = await timelineSearch({ db, clientAddress: null }, 'Incident', text)(incidents)
  return incidents.map(({ id }) => hits.has(id))
}

test('finds a word anywhere in timelines that take many statements', async () => {
  expect(await found('word1')).toEqual([true, false, false, false, true])
  expect(await found('WORD250')).toEqual([false, true, false, false, false])
  expect(await found('word499')).toEqual([false, false, true, false, false])
  expect(await found('at it. word500')).toEqual([false, false, false, true, false])
  expect(await found('still')).toEqual([true, true, true, true, false])
  expect(await found('word7')).toEqual([false, false, false, false, false])
})

test.each(['.*', '(', '[a', '\\', '***=', '(?i)word', '%', '_'])('treats %s literally', async (text) => {
  expect(await found(text)).toEqual([false, false, false, false, false])
  const id = newId('Incident')
  const { organizationId } = await db.incident.findFirstOrThrow()
  await db.incident.create({
    data: {
      id,
      organizationId,
      title: `Say ${text}!`,
      impact: 'MINOR',
      status: 'RESOLVED',
      startedAt: new Date(0),
      createdAt: new Date(0),
    },
  })
  expect([...(await timelineSearch({ db, clientAddress: null }, 'Incident', text)([{ id }]))]).toEqual([id])
})

test('searches no more than its limit', async () => {
  await expect(timelineSearch({ db, clientAddress: null }, 'Incident', 'word7', 1_000_000)(incidents)).rejects.toThrow(
    /narrow the filter/,
  )
  const search = timelineSearch({ db, clientAddress: null }, 'Incident', 'word7', 1_000_000)
  // All its parts together share the limit.
  await search(incidents.slice(0, 1))
  await expect(search(incidents.slice(1, 3))).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('finds nothing without incidents', async () => {
  expect(await timelineSearch({ db, clientAddress: null }, 'Incident', 'word1')([])).toEqual(new Set())
})
