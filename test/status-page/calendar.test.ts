import fc from 'fast-check'
import ICAL from 'ical.js'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { wordsOf } from '../../src/language/catalogue.ts'
import { cancelMaintenance, scheduleMaintenance, updateMaintenance } from '../../src/status/maintenance.ts'
import type { PageState } from '../../src/status/page-state.ts'
import { createService } from '../../src/status/service.ts'
import type { MaintenanceWithTimeline } from '../../src/status/timeline-reader.ts'
import { maintenanceCalendar } from '../../src/status-page/calendar.ts'
import { type Tenant, tenantsOf } from '../status/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { serveUnder } from '../support/own-domain.ts'
import { startPageServer } from '../support/page-server.ts'

const database = await testDatabase()
const tenant = tenantsOf(database.prisma)
const { url } = await startPageServer(database, () => noon)
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const plan = { title: 'New disks', message: 'Reads go **on**.', startsAt: at(DAY), endsAt: at(DAY + HOUR) }

const get = ({ slug }: Tenant) => fetch(`${url}/status/${slug}/maintenance.ics`)
const eventsIn = (text: string) =>
  calendarIn(text)
    .getAllSubcomponents('vevent')
    .map((event) => new ICAL.Event(event))
const calendarIn = (text: string) => new ICAL.Component(ICAL.parse(text))
const events = async (of: Tenant) => eventsIn(await (await get(of)).text())
const statusOf = (event: ICAL.Event | undefined) => event?.component.getFirstPropertyValue('status')

describe('the calendar', () => {
  test('has the time, title and updates of each maintenance', async () => {
    const acme = await tenant()
    const { id: serviceId } = await createService(acme.ctx, { name: 'API, v2' })
    const { id } = await scheduleMaintenance(acme.ctx, { ...plan, serviceIds: [serviceId] })
    const response = await get(acme)
    expect(response.headers.get('content-type')).toBe('text/calendar; charset=utf-8')
    const calendar = calendarIn(await response.text())
    expect(calendar.getFirstPropertyValue('version')).toBe('2.0')
    expect(calendar.getFirstPropertyValue('x-wr-calname')).toBe('Acme maintenance')
    const [event, ...others] = await events(acme)
    expect(others).toEqual([])
    expect(event?.uid).toMatch(/^[\da-f-]{36}$/)
    expect(event?.summary).toBe('New disks')
    expect(event?.description).toBe('Affected: API, v2\n\nScheduled: Reads go on.')
    expect([event?.startDate.toJSDate(), event?.endDate.toJSDate()]).toEqual([plan.startsAt, plan.endsAt])
    expect(event?.component.getFirstPropertyValue('url')).toBe(`${url}/status/${acme.slug}#${id}`)
    expect(statusOf(event)).toBe('CONFIRMED')
    expect(event?.sequence).toBe(0)
    expect(String(event?.component.getFirstPropertyValue('dtstamp'))).toBe('2026-11-20T12:00:00Z')
  })

  test('publishes a change under the same UID with a higher sequence', async () => {
    const acme = await tenant()
    const { id } = await scheduleMaintenance(acme.ctx, plan)
    const [before] = await events(acme)
    await updateMaintenance(acme.later(MINUTE), { id, title: 'Newer disks', endsAt: at(DAY + 2 * HOUR) })
    await expect.poll(async () => (await events(acme))[0]?.summary).toBe('Newer disks')
    const [after] = await events(acme)
    expect(after?.uid).toBe(before?.uid)
    expect(after?.sequence).toBe(1)
    expect(after?.endDate.toJSDate()).toEqual(at(DAY + 2 * HOUR))
    expect(String(after?.component.getFirstPropertyValue('dtstamp'))).toBe('2026-11-20T12:01:00Z')
  })

  test('marks a cancelled maintenance as cancelled', async () => {
    const acme = await tenant()
    const { id } = await scheduleMaintenance(acme.ctx, plan)
    await cancelMaintenance(acme.later(MINUTE), { id, message: 'No disks came.' })
    await expect.poll(async () => statusOf((await events(acme))[0])).toBe('CANCELLED')
    const [event] = await events(acme)
    expect(event?.sequence).toBe(1)
    expect(event?.description).toBe('Cancelled: No disks came.\n\nScheduled: Reads go on.')
    expect(event?.startDate.toJSDate()).toEqual(plan.startsAt)
  })

  test('is empty for a new page', async () => {
    expect(await events(await tenant())).toEqual([])
  })

  test('is also served on the custom domain, and is 404 for an unknown page', async () => {
    const { app } = await startPageServer(database, () => noon)
    const acme = await tenant()
    await serveUnder(acme.ctx, acme.id, 'calendar.acme.example')
    expect((await app.request('/maintenance.ics', { headers: { host: 'calendar.acme.example' } })).status).toBe(200)
    expect((await app.request('/maintenance.ics', { headers: { host: 'nobody.example' } })).status).toBe(404)
    expect((await app.request('/status/nobody/maintenance.ics')).status).toBe(404)
  })
})

/** A calendar of one maintenance. */
function written(of: Partial<Pick<MaintenanceWithTimeline, 'title' | 'startsAt' | 'endsAt'>>): string {
  const maintenance = {
    id: `mnt_${'0'.repeat(24)}`,
    organizationId: `org_${'0'.repeat(24)}`,
    status: 'COMPLETED' as const,
    startedAt: noon,
    tellSubscribers: true,
    seriesId: null,
    nominalStartsAt: null,
    detached: false,
    endedAt: noon,
    dueAt: null,
    version: 1,
    createdAt: noon,
    services: [],
    serviceCount: 0,
    updates: [],
    updateCount: 0,
    ...plan,
    ...of,
  }
  const state = { organization: { name: 'Acme' }, services: [] } as unknown as PageState
  return maintenanceCalendar({
    state,
    maintenances: [maintenance],
    changes: new Map(),
    url: 'https://acme.example',
    words: wordsOf('EN'),
  })
}

describe('its lines', () => {
  test('end in CRLF, have at most 75 octets, split no character, and unfold to the original text', () => {
    const character = fc.oneof(fc.constantFrom(';', ',', '\\', '\n', '"', ':', ' ', 'ü', '名', '🛠'), fc.string())
    fc.assert(
      fc.property(fc.array(character, { maxLength: 150 }), (characters) => {
        const title = characters.join('').replace(/[^\P{Cc}\n]/gu, '')
        const text = written({ title })
        const lines = text.split('\r\n')
        expect(lines.pop()).toBe('')
        for (const line of lines) {
          expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
          expect(line).not.toMatch(/[\r\n\uFFFD]/)
        }
        expect(eventsIn(text)[0]?.summary ?? '').toBe(title)
      }),
      { numRuns: 200 },
    )
  })

  test('escape line breaks in user text', () => {
    const text = written({ title: 'x\r\nATTACH:file:///etc/passwd\rEND:VEVENT\n\u0000' })
    expect(text).not.toMatch(/^(ATTACH|END:VEVENT\\n)/m)
    expect(text.match(/^END:VEVENT/gm)).toHaveLength(1)
    expect(eventsIn(text)[0]?.summary).toBe('x\nATTACH:file:///etc/passwd\nEND:VEVENT\n')
  })

  test('have an end after the start even for a very short maintenance', () => {
    const [event] = eventsIn(written({ startsAt: at(400), endsAt: at(400) }))
    expect(event?.startDate.toJSDate()).toEqual(noon)
    expect(event?.endDate.toJSDate()).toEqual(at(1000))
  })
})
