import { describe, expect, test } from 'vitest'
import type { Catalogue } from '../../../src/language/catalogue.ts'
import { wordsOf } from '../../../src/language/catalogue.ts'
import { piecesOf } from '../../../src/language/isolate.ts'
import {
  notificationContent,
  pageUrl,
  subscriptionContent,
  withheldContent,
} from '../../../src/notification/content/content.ts'
import type { NotificationPayload } from '../../../src/notification/content/payload.ts'
import { parsePayload, serializePayload } from '../../../src/notification/content/payload.ts'
import { noon } from '../../support/context.ts'

const acme = {
  name: 'Acme',
  slug: 'acme',
  timeZone: 'Europe/Berlin',
  customDomain: null,
  accentColor: '#ffdd00',
  logoUrl: null,
}
const words = wordsOf('EN')
const baseUrl = 'https://allclear.example'
const incident = {
  about: 'INCIDENT',
  step: 'CREATED',
  id: 'inc_1',
  title: 'Slow answers',
  status: 'INVESTIGATING',
  impact: 'MAJOR',
  message: 'We look.',
  startedAt: noon,
  services: [
    { id: 'svc_1', name: 'API', status: 'PARTIAL_OUTAGE' },
    { id: 'svc_2', name: 'Web', status: 'OPERATIONAL' },
  ],
  at: noon,
} as const satisfies NotificationPayload
const maintenance = {
  about: 'MAINTENANCE',
  step: 'SCHEDULED',
  id: 'mnt_1',
  title: 'New disks',
  status: 'SCHEDULED',
  message: '',
  startsAt: noon,
  endsAt: new Date('2027-07-01T12:00:00Z'),
  services: [],
  at: noon,
} as const satisfies NotificationPayload
const service = {
  about: 'SERVICE',
  step: 'STATUS_CHANGED',
  id: 'svc_1',
  title: 'API',
  status: 'UNDER_MAINTENANCE',
  at: noon,
} as const satisfies NotificationPayload
const report = {
  about: 'REPORT',
  step: 'CREATED',
  id: 'pag_1.2026-10',
  title: '2026-10',
  pageId: 'pag_1',
  isPublished: true,
  consolePath: '/console/acme/reports/pag_1?month=2026-10',
  services: [
    { id: 'svc_1', name: 'API', percent: 99.861, downMs: 3_600_000, maintenanceMs: 1_800_000 },
    { id: 'svc_2', name: 'Web', percent: null, downMs: 0, maintenanceMs: 0 },
  ],
  incidents: 2,
  recoveryMs: 2_700_000,
  at: noon,
} as const satisfies NotificationPayload
const planned = ['From: 20 Nov 2026, 13:00 CET', 'To: 1 Jul 2027, 14:00 CEST']
const linesOf = (payload: NotificationPayload) => {
  const { headline, tone, facts, event } = notificationContent(payload, acme, baseUrl, 'EN')
  return [headline, tone, event.type, ...facts.map((fact) => fact.join(': '))]
}

test('texts without a translation are marked with their language', () => {
  const tags = (title: string | null, message: string | null) => {
    const translations = [{ language: 'DE', title, message }]
    const content = notificationContent({ ...incident, translations }, acme, baseUrl, 'DE', 'EN')
    return [content.titleTag, content.messageTag, content.namesTag]
  }
  expect(tags('Langsam', null)).toEqual([undefined, 'en', 'en'])
  expect(tags(null, 'Wir suchen.')).toEqual(['en', undefined, 'en'])
  expect(tags('Langsam', 'Wir suchen.')).toEqual([undefined, undefined, 'en'])
  expect(notificationContent(incident, acme, baseUrl, 'EN', 'EN')).not.toHaveProperty('titleTag')
  expect(notificationContent(service, acme, baseUrl, 'DE', 'EN').titleTag).toBe('en')
  const [english, german] = [wordsOf('EN'), wordsOf('DE')]
  const withheld = (own: Catalogue, written: Catalogue) => withheldContent(noon, acme, baseUrl, own, written)
  expect(withheld(german, english)).toMatchObject({ namesTag: 'en' })
  expect(withheld(english, english)).not.toHaveProperty('namesTag')
  const about = { confirmed: false, at: noon, url: `${baseUrl}/s/t` }
  const confirm = (own: Catalogue, written: Catalogue) => subscriptionContent(about, acme, baseUrl, own, written)
  expect(confirm(german, english)).toMatchObject({ namesTag: 'en', titleTag: 'en' })
  expect(confirm(german, german)).not.toHaveProperty('titleTag')
})

test('marks the owner’s texts within our sentences, and nowhere else', () => {
  const { headline, facts, reason, isolated } = notificationContent(incident, acme, baseUrl, 'EN')
  expect([headline, reason, ...facts.flat()].join('')).not.toMatch(/[\u2066-\u2069]/)
  expect(piecesOf(isolated?.headline ?? '')).toEqual([
    { text: 'Investigating: ', isOwners: false },
    { text: incident.title, isOwners: true },
  ])
  const names = isolated?.facts.flatMap(([, value]) => piecesOf(value).filter(({ isOwners }) => isOwners))
  expect(names?.map(({ text }) => text)).toEqual(incident.services.map(({ name }) => name))
})

type Row = readonly [NotificationPayload, readonly string[]]

describe('a rendered payload', () => {
  test.each(
    (
      [
        [
          incident,
          [
            'Investigating: Slow answers',
            'major',
            'incident.created',
            'Impact: Major',
            'Affected: API (partial outage), Web (operational)',
          ],
        ],
        [
          { ...incident, step: 'UPDATED', status: 'IDENTIFIED', impact: 'MINOR', services: [] },
          ['Identified: Slow answers', 'minor', 'incident.updated', 'Impact: Minor'],
        ],
        [
          { ...incident, step: 'UPDATED', status: 'MONITORING', impact: 'CRITICAL', services: [] },
          ['Monitoring: Slow answers', 'major', 'incident.updated', 'Impact: Critical'],
        ],
        [
          { ...incident, impact: 'NONE', services: [] },
          ['Investigating: Slow answers', 'neutral', 'incident.created', 'Impact: None'],
        ],
        [
          { ...incident, step: 'RESOLVED', status: 'RESOLVED', services: [] },
          ['Resolved: Slow answers', 'good', 'incident.resolved'],
        ],
        [
          { ...incident, step: 'POSTMORTEM', status: 'RESOLVED', services: [] },
          ['Post-mortem: Slow answers', 'neutral', 'incident.postmortem'],
        ],
        [maintenance, ['Maintenance scheduled: New disks', 'planned', 'maintenance.scheduled', ...planned]],
        [
          { ...maintenance, step: 'RESCHEDULED', services: [{ id: 'svc_1', name: 'API' }] },
          ['Maintenance rescheduled: New disks', 'planned', 'maintenance.rescheduled', ...planned, 'Affected: API'],
        ],
        [
          { ...maintenance, step: 'UPDATED' },
          ['Maintenance update: New disks', 'planned', 'maintenance.updated', ...planned],
        ],
        [
          { ...maintenance, step: 'STARTED', status: 'IN_PROGRESS' },
          ['Maintenance started: New disks', 'planned', 'maintenance.started', ...planned],
        ],
        [
          { ...maintenance, step: 'UPDATED', status: 'VERIFYING' },
          ['Maintenance update: New disks', 'planned', 'maintenance.updated', ...planned],
        ],
        [
          { ...maintenance, step: 'COMPLETED', status: 'COMPLETED' },
          ['Maintenance completed: New disks', 'good', 'maintenance.completed', ...planned],
        ],
        [
          { ...maintenance, step: 'CANCELLED', status: 'CANCELLED' },
          ['Maintenance cancelled: New disks', 'planned', 'maintenance.cancelled', ...planned],
        ],
        ...(
          [
            ['OPERATIONAL', 'Operational', 'good'],
            ['DEGRADED_PERFORMANCE', 'Degraded performance', 'minor'],
            ['PARTIAL_OUTAGE', 'Partial outage', 'major'],
            ['MAJOR_OUTAGE', 'Major outage', 'major'],
            ['UNDER_MAINTENANCE', 'Under maintenance', 'planned'],
            ['UNKNOWN', 'No data', 'neutral'],
          ] as const
        ).map(
          ([status, name, tone]) =>
            [{ ...service, status }, [`${name}: API`, tone, 'service.status_changed']] as const satisfies Row,
        ),
        ...(
          [
            ['UNSTATED', 'No status yet'],
            ['PENDING', 'Waiting for first result'],
            ['SILENT', 'No data'],
            ['SOMETHING_LATER', 'No data'],
          ] as const
        ).map(
          ([basis, name]) =>
            [
              { ...service, status: 'UNKNOWN', basis },
              [`${name}: API`, 'neutral', 'service.status_changed'],
            ] as const satisfies Row,
        ),
        [
          report,
          [
            'Report for October 2026',
            'neutral',
            'report.created',
            'API: 99.861% uptime, down 1 h, maintenance 30 min',
            'Web: No data',
            'Incidents: 2',
            'Mean time until incidents were resolved: 45 min',
          ],
        ],
      ] as const satisfies Row[]
    ).map(([payload, words]) => ({ payload, words })),
  )('$payload.about $payload.step: $words.0', ({ payload, words }) => {
    expect(linesOf(payload)).toEqual(words)
  })

  test('is the same after storage', () => {
    for (const payload of [incident, maintenance, service, report]) {
      // As the database returns it.
      const stored = JSON.parse(JSON.stringify(serializePayload(payload)))
      expect(parsePayload(stored)).toEqual(payload)
    }
  })
})

test('a report links to the page, or to the console while it is not published', () => {
  const link = (isPublished: boolean) =>
    notificationContent({ ...report, isPublished }, acme, baseUrl, 'EN').event.data['report']
  expect(link(true)).toMatchObject({ month: '2026-10', url: `${baseUrl}/status/acme/reports/2026-10` })
  expect(link(false)).toMatchObject({ url: `${baseUrl}${report.consolePath}` })
})

test('webhooks contain the data of the incident', () => {
  expect(notificationContent(incident, acme, baseUrl, 'EN').event.data).toEqual({
    page: { name: 'Acme', slug: 'acme', url: `${baseUrl}/status/acme` },
    incident: {
      id: 'inc_1',
      title: 'Slow answers',
      status: 'INVESTIGATING',
      impact: 'MAJOR',
      message: 'We look.',
      started_at: noon.toISOString(),
      services: incident.services,
      url: `${baseUrl}/status/acme/incidents/inc_1`,
    },
  })
})

test('links use the custom domain if there is one', () => {
  expect(pageUrl({ ...acme, customDomain: 'status.acme.example' }, baseUrl)).toBe('https://status.acme.example')
  const { action } = notificationContent(incident, { ...acme, customDomain: 'status.acme.example' }, baseUrl, 'EN')
  expect(action.url).toBe('https://status.acme.example/incidents/inc_1')
})

test('a message about the subscription asks to confirm it, or links to its settings', () => {
  const content = (confirmed: boolean) =>
    subscriptionContent({ confirmed, at: noon, url: `${baseUrl}/s/t` }, acme, baseUrl, words)
  expect(content(false)).toMatchObject({
    subject: 'Confirm your subscription',
    action: { label: 'Confirm subscription', url: `${baseUrl}/s/t` },
    event: { type: 'subscription.confirm', data: { confirm_url: `${baseUrl}/s/t` } },
  })
  expect(content(true)).toMatchObject({
    subject: 'You’re already subscribed',
    action: { label: 'Manage or unsubscribe' },
    event: { type: 'subscription.confirmed', data: { manage_url: `${baseUrl}/s/t` } },
  })
})

test('emails show the logo unless it is SVG, which no mail program shows', () => {
  const logoOf = (logoUrl: string | null) =>
    notificationContent(incident, { ...acme, logoUrl }, baseUrl, 'EN').look.logoUrl
  expect(logoOf('/logos/abc.png')).toBe(`${baseUrl}/logos/abc.png`)
  expect(logoOf('https://cdn.example/a.webp?v=1')).toBe('https://cdn.example/a.webp?v=1')
  expect(logoOf('/logos/abc.svg')).toBe(null)
  expect(logoOf('https://cdn.example/a.SVG?v=1')).toBe(null)
  expect(logoOf(null)).toBe(null)
})
