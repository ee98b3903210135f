import { describe, expect, test } from 'vitest'
import type { SendTools } from '../../../src/notification/channel/channel.ts'
import { channels } from '../../../src/notification/channels.ts'
import type { NotificationPayload } from '../../../src/notification/content/payload.ts'
import { noon } from '../../support/context.ts'
import { contentOf, incident, messageTo } from './messages.ts'

type NameOf<N extends NotificationPayload> = N extends NotificationPayload ? `${N['about']} ${N['step']}` : never

const services = [{ id: 'svc_1', name: 'Mail' }]
const maintenance = {
  about: 'MAINTENANCE',
  id: 'mnt_1',
  title: 'New disks',
  message: 'We **replace** disks.',
  html: '<p>We <strong>replace</strong> disks.</p>',
  startsAt: noon,
  endsAt: new Date('2026-11-20T14:00:00Z'),
  services,
  at: noon,
} as const

/** The payload of each step of everything that has steps. */
const payloads: { readonly [N in NameOf<NotificationPayload>]: NotificationPayload } = {
  'INCIDENT CREATED': incident,
  'INCIDENT UPDATED': { ...incident, step: 'UPDATED', status: 'IDENTIFIED', impact: 'MINOR' },
  'INCIDENT RESOLVED': { ...incident, step: 'RESOLVED', status: 'RESOLVED', message: '', html: '', services: [] },
  'INCIDENT POSTMORTEM': { ...incident, step: 'POSTMORTEM', status: 'RESOLVED', services: [] },
  'MAINTENANCE SCHEDULED': { ...maintenance, step: 'SCHEDULED', status: 'SCHEDULED' },
  'MAINTENANCE RESCHEDULED': {
    ...maintenance,
    step: 'RESCHEDULED',
    status: 'SCHEDULED',
    endsAt: new Date('2026-11-20T15:00:00Z'),
  },
  'MAINTENANCE UPDATED': { ...maintenance, step: 'UPDATED', status: 'VERIFYING' },
  'MAINTENANCE STARTED': { ...maintenance, step: 'STARTED', status: 'IN_PROGRESS', message: '', html: '' },
  'MAINTENANCE COMPLETED': { ...maintenance, step: 'COMPLETED', status: 'COMPLETED' },
  'MAINTENANCE CANCELLED': { ...maintenance, step: 'CANCELLED', status: 'CANCELLED', services: [] },
  'SERVICE STATUS_CHANGED': {
    about: 'SERVICE',
    step: 'STATUS_CHANGED',
    id: 'svc_1',
    title: 'Mail',
    status: 'PARTIAL_OUTAGE',
    at: noon,
  },
  'REPORT CREATED': {
    about: 'REPORT',
    step: 'CREATED',
    id: 'page_1.2026-10',
    title: '2026-10',
    pageId: 'page_1',
    isPublished: true,
    consolePath: '/console/acme/reports/page_1?month=2026-10',
    services: [
      { id: 'svc_1', name: 'Mail <b>', percent: 99.865, downMs: 3_600_000, maintenanceMs: 0 },
      { id: 'svc_2', name: 'Blog', percent: null, downMs: 0, maintenanceMs: 0 },
    ],
    incidents: 2,
    recoveryMs: 5_400_000,
    at: noon,
  },
}

/** Tools that send nothing and record their calls. */
function recordingTools(): { tools: SendTools; sent: unknown[] } {
  const sent: unknown[] = []
  const tools: SendTools = {
    outbound: {
      async request({ body }) {
        sent.push(JSON.parse(String(body)))
        const phases = { dns: null, connect: null, tls: null, firstByte: null, total: 0 }
        return {
          ...{ kind: 'failed', reason: 'rate-limited', fault: 'ours', message: '', address: null, certificate: null },
          phases,
        }
      },
    },
    mailer: {
      domain: 'allclear.example',
      async send({ subject, text }) {
        sent.push([subject, ...text.split('\n')])
        return { kind: 'delivered', status: null, message: '' }
      },
      close() {},
    },
    now: () => noon,
  }
  return { tools, sent }
}

const addresses: Partial<Record<keyof typeof channels, string>> = { TELEGRAM: `123456:${'A'.repeat(35)}/-1001` }

describe.each(Object.entries(channels))('%s', (kind, channel) => {
  test.each(Object.entries(payloads))('renders %s', async (_, payload) => {
    const { tools, sent } = recordingTools()
    const address = addresses[kind as keyof typeof channels] ?? 'https://hooks.example/1'
    await channel.send(messageTo(address, { content: contentOf(payload) }), tools)
    expect(sent).toHaveLength(1)
    expect(sent[0]).toMatchSnapshot()
  })
})
