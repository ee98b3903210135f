import { expect, test } from 'vitest'
import { newId } from '../../../../src/core/id.ts'
import { DAY, HOUR } from '../../../../src/core/time.ts'
import { formatLocalTime } from '../../../../src/core/time-zone.ts'
import { writeMonitor } from '../../../monitoring/histories.ts'
import { testConsole } from '../../../support/console.ts'

const { database, organization } = await testConsole()
const acme = await organization('acme')
const { prisma } = database

/** The service that all tests use. */
async function shop() {
  const { id: organizationId } = await prisma.organization.findUniqueOrThrow({ where: { slug: 'acme' } })
  const found = await prisma.service.findFirst({ where: { organizationId, name: 'Shop' } })
  const made = { id: newId('Service'), organizationId, name: 'Shop', position: 0, createdAt: new Date() }
  return found ?? prisma.service.create({ data: made })
}

test('an objective is added, shown with its remaining budget, corrected, changed and deleted', async () => {
  const { id: serviceId, organizationId } = await shop()
  const now = Date.now()
  await writeMonitor(prisma, {
    organizationId,
    serviceId,
    states: [
      ['UP', new Date(now - 60 * DAY)],
      ['DOWN', new Date(now - 2 * DAY)],
      ['UP', new Date(now - 2 * DAY + HOUR)],
    ],
    lastKnownAt: new Date(now),
  })
  const editor = await acme.signIn('EDITOR')
  const refused = await editor.post('objectives/new', { serviceId, target: '100', windowDays: '30' })
  expect(refused).toMatchObject({ status: 422, html: expect.stringContaining('Must be at most 99.999') })
  expect((await editor.post('objectives/new', { serviceId, target: '99.9', windowDays: '30' })).status).toBe(303)
  const objective = await prisma.objective.findFirstOrThrow({ where: { serviceId } })
  const list = await editor.get('objectives')
  expect(list.html).toContain('99.9% of 30 days')
  expect(list.html).toContain('overspent by 16 minutes 48 seconds')
  const one = await editor.get(`objectives/${objective.id}`)
  expect(one.html).toContain('Budget exhausted')

  const at = (ago: number) => formatLocalTime('UTC', new Date(now - ago))
  const wrong = { serviceId, kind: 'GOOD', startsAt: at(3 * DAY), endsAt: at(DAY) }
  const blank = await editor.post('corrections/new', { ...wrong, reason: '' })
  expect(blank.status).toBe(422)
  expect((await editor.post('corrections/new', { ...wrong, reason: 'Our <probe> erred.' })).status).toBe(303)
  expect((await editor.get(`objectives/${objective.id}`)).html).toContain('Our &lt;probe&gt; erred.')
  expect((await editor.get('objectives')).html).toContain('43 minutes 12 seconds of 43 minutes 12 seconds left')

  const changed = await editor.post(`objectives/${objective.id}`, { target: '99', windowDays: '', version: '1' })
  expect(changed.status).toBe(303)
  expect((await editor.get('objectives')).html).toContain('99% of a calendar month')
  const correction = await prisma.uptimeCorrection.findFirstOrThrow({ where: { serviceId } })
  expect((await editor.post(`corrections/${correction.id}/delete`, {})).status).toBe(303)
  expect((await editor.post(`objectives/${objective.id}/delete`, {})).status).toBe(303)
  expect(await prisma.objective.count({ where: { serviceId } })).toBe(0)
})

test('a report is available for print, as CSV and as JSON, and viewers may read it', async () => {
  await shop()
  const viewer = await acme.signIn('VIEWER')
  const { html } = await viewer.get('reports')
  const path = /\/console\/acme\/(reports\/pag_[^"]+month=[^"]+)"/.exec(html)?.[1] ?? ''
  expect((await viewer.get(path)).html).toContain('Until incidents were resolved')
  const csv = await viewer.get(`${path}&format=csv`)
  expect(csv.html).toMatch(/^service,from,to,/)
  expect(JSON.parse((await viewer.get(`${path}&format=json`)).html)).toMatchObject({ complete: false })
  expect((await viewer.get(path.replace(/month=.*/, 'month=2019-01'))).status).toBe(404)
  expect((await viewer.post('corrections/new', {})).status).toBe(422)
  expect(await prisma.uptimeCorrection.count()).toBe(0)
})
