import { performance } from 'node:perf_hooks'
import { afterAll, describe, expect, test } from 'vitest'
import { textAsHtml } from '../../../src/core/markdown/markdown.ts'
import { closeRendering, HTML_VERSION, htmlOf } from '../../../src/core/markdown/markdown-rendering.ts'
import { DAY, HOUR } from '../../../src/core/time.ts'
import { change } from '../../../src/event-log/change.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { editIncidentUpdate, postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import {
  cancelMaintenance,
  scheduleMaintenance,
  updateMaintenance,
} from '../../../src/status/maintenance/maintenance.ts'
import { renderStored } from '../../../src/status/timeline/stored-messages.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
afterAll(closeRendering)

/** As long as a message may be; takes ten seconds to render. */
const bomb = 'www._'.repeat(2000)
const long = `${'Some *words* in a paragraph. '.repeat(20)}\n\n- one\n- **two**`
const incident = { title: 'Slow', status: 'INVESTIGATING', impact: 'MINOR' }
const window = { startsAt: new Date(noon.getTime() + HOUR), endsAt: new Date(noon.getTime() + DAY) }

const updatesOf = (organizationId: string) =>
  prisma.incidentUpdate.findMany({ where: { organizationId }, orderBy: { createdAt: 'asc' } })

describe('a message', () => {
  test('is rendered by every mutation that writes it', async () => {
    const acme = await tenant()
    const { id: incidentId } = await createIncident(acme.ctx, { ...incident, message: long })
    const update = await postIncidentUpdate(acme.later(1), { incidentId, status: 'IDENTIFIED', message: '*a*' })
    await editIncidentUpdate(acme.later(2), { id: update.id, message: '**b**' })
    const updates = await updatesOf(acme.id)
    expect(updates.map(({ html }) => html)).toEqual([
      expect.stringMatching(/^<p>Some <em>words<\/em> .*<li><strong>two<\/strong><\/li>\n<\/ul>$/s),
      '<p><strong>b</strong></p>',
    ])
    expect(updates.every(({ htmlVersion }) => htmlVersion === HTML_VERSION)).toBe(true)

    const { id } = await scheduleMaintenance(acme.ctx, { title: 'Disks', message: '_c_', ...window })
    await updateMaintenance(acme.later(1), { id, message: '`d`' })
    await cancelMaintenance(acme.later(2), { id })
    const reported = await prisma.maintenanceUpdate.findMany({
      where: { maintenanceId: id },
      orderBy: { createdAt: 'asc' },
    })
    expect(reported.map(({ html, htmlVersion }) => [html, htmlVersion])).toEqual([
      ['<p><em>c</em></p>', HTML_VERSION],
      ['<p><code>d</code></p>', HTML_VERSION],
      ['', HTML_VERSION],
    ])
  })

  test('is stored as plain text after a timeout, without delaying others', async () => {
    const acme = await tenant()
    const before = performance.eventLoopUtilization()
    await createIncident(acme.ctx, { ...incident, message: bomb })
    // Rendering it here would block this thread for several seconds.
    expect(performance.eventLoopUtilization(before).active).toBeLessThan(1000)
    const [update] = await updatesOf(acme.id)
    expect(update).toMatchObject({ html: textAsHtml(bomb), htmlVersion: HTML_VERSION })
  })

  test('is stored as plain text if its HTML would be too long', async () => {
    const acme = await tenant()
    const quotes = '>'.repeat(5000)
    await createIncident(acme.ctx, { ...incident, message: quotes })
    expect((await updatesOf(acme.id))[0]?.html).toBe(textAsHtml(quotes))
  })

  test('is rendered later if it is long and written inside a transaction', async () => {
    const acme = await tenant()
    const message = `*In a transaction.* ${long}`
    await change(acme.ctx, acme.id, async (tx) => [await createIncident(tx, { ...incident, message })])
    const [update] = await updatesOf(acme.id)
    expect(update).toMatchObject({ html: null, htmlVersion: 0 })
    expect(htmlOf({ message, html: null })).toBe(textAsHtml(message))
    expect(await renderStored(testContext(prisma))).toBe(false)
    expect((await updatesOf(acme.id))[0]).toMatchObject({
      html: expect.stringContaining('<em>In a transaction.</em>'),
      htmlVersion: HTML_VERSION,
    })
  })

  test('is rendered in batches if stored without HTML', async () => {
    const acme = await tenant()
    const { id: incidentId } = await createIncident(acme.ctx, { ...incident, message: 'x' })
    const { id: maintenanceId } = await scheduleMaintenance(acme.ctx, { title: 'Disks', message: 'x', ...window })
    const old = (id: string, index: number) => ({
      id: `${id}_${index}`,
      organizationId: acme.id,
      message: `*old* ${index}`,
      createdAt: noon,
    })
    const numbers = [...Array(25).keys()]
    await prisma.incidentUpdate.createMany({
      data: numbers.map((n) => ({ ...old('upd', n), incidentId, status: 'IDENTIFIED' as const })),
    })
    await prisma.maintenanceUpdate.createMany({ data: [{ ...old('mup', 0), maintenanceId, status: 'SCHEDULED' }] })
    const system = testContext(prisma)
    expect(await renderStored(system)).toBe(true)
    expect(await renderStored(system)).toBe(false)
    expect(await prisma.incidentUpdate.findUnique({ where: { id: 'upd_7' } })).toMatchObject({
      html: '<p><em>old</em> 7</p>',
      editedAt: null,
      version: 1,
    })
    expect(await prisma.maintenanceUpdate.findUnique({ where: { id: 'mup_0' } })).toMatchObject({
      html: '<p><em>old</em> 0</p>',
    })
    expect(await prisma.incidentUpdate.count({ where: { htmlVersion: 0 } })).toBe(0)
  })
})
