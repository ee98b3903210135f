import fc from 'fast-check'
import ICAL from 'ical.js'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import { wordsOf } from '../../../src/language/catalogue.ts'
import {
  cancelMaintenance,
  deleteMaintenance,
  scheduleMaintenance,
  updateMaintenance,
} from '../../../src/status/maintenance/maintenance.ts'
import {
  createMaintenanceSeries,
  endMaintenanceSeries,
  updateMaintenanceSeries,
} from '../../../src/status/maintenance/maintenance-series.ts'
import { createPage } from '../../../src/status/page/page.ts'
import type { PageState } from '../../../src/status/page/page-state.ts'
import { createService } from '../../../src/status/service/service.ts'
import type { MaintenanceWithTimeline } from '../../../src/status/timeline/timeline-reader.ts'
import { maintenanceCalendar } from '../../../src/status-page/document/calendar.ts'
import { type Tenant, tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { serveUnder } from '../../support/own-domain.ts'
import { startPageServer } from '../../support/page-server.ts'

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
    expect(event?.component.getFirstPropertyValue('url')).toBe(`${url}/status/${acme.slug}/maintenance/${id}`)
    expect(statusOf(event)).toBe('CONFIRMED')
    expect(event?.sequence).toBe(0)
    expect(String(event?.component.getFirstPropertyValue('dtstamp'))).toBe('2026-11-20T12:00:00Z')
  })

  test('keeps paragraphs, lists and addresses of links in its description, escaped and folded', async () => {
    const acme = await tenant()
    const message = `We move:\n\n- API; v2\n- Mail, \\\\ too\n\nSee [the plan](https://a.example/?a=1&b=2). ${'é🙂 '.repeat(60)}`
    await scheduleMaintenance(acme.ctx, { ...plan, message })
    const text = await (await get(acme)).text()
    for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
    expect(text.isWellFormed()).toBe(true)
    expect(eventsIn(text)[0]?.description).toBe(
      `Scheduled:\nWe move:\n\n- API; v2\n- Mail, \\ too\n\nSee the plan (https://a.example/?a=1&b=2). ${'é🙂 '.repeat(60)}`.trimEnd(),
    )
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

/** A restart each Sunday at 02:00 in Berlin, starting on 22 November 2026. */
const weekly = {
  title: 'Weekly restart',
  message: 'We restart.',
  startsAt: new Date('2026-11-22T01:00Z'),
  durationMinutes: 60,
  rule: 'FREQ=WEEKLY;BYDAY=SU',
  timeZone: 'Europe/Berlin',
}

/** Returns the starts and titles of a repeating event as a calendar application expands them. */
function occurrences(text: string, count: number) {
  const calendar = calendarIn(text)
  for (const zone of calendar.getAllSubcomponents('vtimezone')) {
    const read = new ICAL.Timezone(zone)
    ICAL.TimezoneService.register(read, read.tzid)
  }
  const events = calendar.getAllSubcomponents('vevent')
  const master = events.find((event) => event.hasProperty('rrule'))
  if (master === undefined) return []
  const exceptions = events.filter((event) => event.hasProperty('recurrence-id'))
  const event = new ICAL.Event(master, { exceptions, strictExceptions: true })
  const each = event.iterator()
  return Array.from({ length: count }, () => each.next())
    .filter((start) => start)
    .map((start) => event.getOccurrenceDetails(start))
    .map(({ startDate, endDate, item }) => [
      startDate.toJSDate().toISOString().slice(0, 16),
      (endDate.toJSDate().getTime() - startDate.toJSDate().getTime()) / MINUTE,
      item.summary,
      item.component.getFirstPropertyValue('status'),
    ])
}

describe('a series', () => {
  const textOf = async (of: Tenant) => (await get(of)).text()

  test('is one event that keeps its time of day when clocks change', async () => {
    const acme = await tenant()
    const [serviceId = ''] = await acme.services('API')
    await createMaintenanceSeries(acme.ctx, { ...weekly, serviceIds: [serviceId] })
    const text = await textOf(acme)
    const [event, ...others] = eventsIn(text)
    expect(others).toEqual([])
    expect(event?.description).toBe('Affected: API\n\nScheduled: We restart.')
    const found = occurrences(text, 21)
    expect(found.slice(0, 3)).toEqual([
      ['2026-11-22T01:00', 60, 'Weekly restart', 'CONFIRMED'],
      ['2026-11-29T01:00', 60, 'Weekly restart', 'CONFIRMED'],
      ['2026-12-06T01:00', 60, 'Weekly restart', 'CONFIRMED'],
    ])
    // The clocks go forward on 28 March 2027, from two to three.
    expect([17, 19, 20].map((index) => found[index]?.[0])).toEqual([
      '2027-03-21T01:00',
      '2027-04-04T00:00',
      '2027-04-11T00:00',
    ])
  })

  test('has its moved, renamed and cancelled dates as exceptions, and omits the skipped ones', async () => {
    const acme = await tenant()
    const { id } = await createMaintenanceSeries(acme.ctx, weekly)
    const [first, second, third] = await database.prisma.maintenance.findMany({
      where: { seriesId: id },
      orderBy: { startsAt: 'asc' },
    })
    const moved = new Date('2026-11-22T03:30Z')
    await updateMaintenance(acme.ctx, {
      ...{ id: first?.id ?? '', title: 'A longer restart' },
      ...{ startsAt: moved, endsAt: new Date(moved.getTime() + 2 * HOUR) },
    })
    await cancelMaintenance(acme.ctx, { id: second?.id ?? '', message: 'Not this time.' })
    await deleteMaintenance(acme.ctx, third?.id ?? '')
    await expect.poll(async () => eventsIn(await textOf(acme)).length).toBe(3)
    const text = await textOf(acme)
    expect(new Set(eventsIn(text).map(({ uid }) => uid)).size).toBe(1)
    expect(text).toContain('EXDATE;TZID=Europe/Berlin:20261206T020000\r\n')
    await expect
      .poll(async () => occurrences(await textOf(acme), 3))
      .toEqual([
        ['2026-11-22T03:30', 120, 'A longer restart', 'CONFIRMED'],
        ['2026-11-29T01:00', 60, 'Weekly restart', 'CANCELLED'],
        ['2026-12-13T01:00', 60, 'Weekly restart', 'CONFIRMED'],
      ])
  })

  test('ends as its rule does, and keeps the dates from before its schedule was edited separate', async () => {
    const acme = await tenant()
    const { id } = await createMaintenanceSeries(acme.ctx, { ...weekly, rule: 'FREQ=WEEKLY;BYDAY=SU;COUNT=3' })
    expect(occurrences(await textOf(acme), 9).map(([start]) => start)).toEqual([
      '2026-11-22T01:00',
      '2026-11-29T01:00',
      '2026-12-06T01:00',
    ])
    const [first] = await database.prisma.maintenance.findMany({
      where: { seriesId: id },
      orderBy: { startsAt: 'asc' },
    })
    await updateMaintenance(acme.ctx, { id: first?.id ?? '', title: 'Alone' })
    const startsAt = new Date('2026-11-27T06:00Z')
    await updateMaintenanceSeries(acme.ctx, { id, startsAt, rule: 'FREQ=DAILY;UNTIL=20261128', timeZone: 'UTC' })
    await expect
      .poll(async () => occurrences(await textOf(acme), 9).map(([start]) => start))
      .toEqual(['2026-11-27T06:00', '2026-11-28T06:00'])
    const alone = eventsIn(await textOf(acme)).find(({ summary }) => summary === 'Alone')
    expect(alone?.startDate.toJSDate()).toEqual(weekly.startsAt)
    expect(alone?.component.hasProperty('recurrence-id')).toBe(false)
    await endMaintenanceSeries(acme.ctx, id)
    await expect.poll(async () => (await events(acme)).map(({ summary }) => summary)).toEqual(['Alone'])
  })

  test('is only on pages that show one of its services', async () => {
    const acme = await tenant('TEAM')
    const [shown = '', hidden = ''] = await acme.services('API', 'Mail')
    await createMaintenanceSeries(acme.ctx, { ...weekly, title: 'Of the API', serviceIds: [shown] })
    await createMaintenanceSeries(acme.ctx, { ...weekly, title: 'Of mail', serviceIds: [hidden] })
    const slug = `${acme.slug}-api`
    await createPage(acme.ctx, { name: 'API', slug, serviceIds: [shown] })
    expect((await events({ ...acme, slug })).map(({ summary }) => summary)).toEqual(['Of the API'])
  })

  test('has the clock changes of its zone, also half an hour ahead and in the south', async () => {
    const acme = await tenant()
    await createMaintenanceSeries(acme.ctx, { ...weekly, timeZone: 'Australia/Lord_Howe' })
    const text = await textOf(acme)
    expect(text).toMatch(/TZOFFSETFROM:\+1100\r\nTZOFFSETTO:\+1030/)
    const starts = occurrences(text, 60).map(([start]) => String(start).slice(11))
    expect(new Set(starts)).toEqual(new Set(['01:00', '01:30']))
  })
})

/** A calendar with one maintenance. */
function written(of: Partial<Pick<MaintenanceWithTimeline, 'title' | 'startsAt' | 'endsAt'>>): string {
  const maintenance = {
    id: `mnt_${'0'.repeat(24)}`,
    organizationId: `org_${'0'.repeat(24)}`,
    status: 'COMPLETED' as const,
    startedAt: noon,
    notifySubscribers: true,
    titles: {},
    seriesId: null,
    nominalStartsAt: null,
    detached: false,
    endedAt: noon,
    dueAt: null,
    importedFrom: null,
    importedAt: null,
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
    series: [],
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
