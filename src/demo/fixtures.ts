import { DAY, HOUR, MINUTE, utcDay } from '../core/time.ts'
import type { IncidentImpact, IncidentStatus, ServiceStatus } from '../generated/prisma/enums.ts'

/** The demo organization: a mail hosting company. */
export const organization = { name: 'Northwind Mail', slug: 'northwind-mail', contactEmail: 'status@northwind.example' }

export const pageSettings = {
  description: 'Mailboxes, sending and the API for companies that would rather not run their own mail servers.',
  timeZone: 'Europe/Amsterdam',
  accentColor: '#1d4f91',
  links: [
    { label: 'Website', url: 'https://northwind.example' },
    { label: 'Help centre', url: 'https://help.northwind.example' },
  ],
}

/** Service groups and their services, in page order. */
export const groups = [
  {
    name: 'Mailboxes',
    description: 'Reading mail, wherever you read it.',
    services: [
      { name: 'Webmail', description: 'mail.northwind.example, also on phones.' },
      { name: 'IMAP and POP3', description: 'Mail programs and apps.' },
      { name: 'Calendars and contacts', description: 'CalDAV and CardDAV.' },
      { name: 'Search', description: 'Finding messages and attachments.' },
    ],
  },
  {
    name: 'Sending and receiving',
    description: 'Mail on its way from and to other providers.',
    services: [
      { name: 'Incoming mail', description: 'Our MX servers in Amsterdam and Frankfurt.' },
      { name: 'Outgoing mail', description: 'SMTP submission and delivery.' },
      { name: 'Spam and virus filter', description: '' },
      { name: 'Mailing lists', description: '' },
    ],
  },
  {
    name: 'API',
    description: 'For your own programs.',
    services: [
      { name: 'REST API', description: 'api.northwind.example' },
      { name: 'Webhook delivery', description: 'Delivery events for each message.' },
    ],
  },
  {
    name: 'Administration',
    description: '',
    services: [
      { name: 'Sign-in', description: 'Passwords, passkeys and single sign-on.' },
      { name: 'Admin console', description: 'Domains, users and invoices.' },
    ],
  },
] as const

export type ServiceName = (typeof groups)[number]['services'][number]['name']

/** The monitored services and their usual latency. */
export const monitoredServices: readonly { readonly service: ServiceName; readonly latencyMs: number }[] = [
  { service: 'Webmail', latencyMs: 140 },
  { service: 'IMAP and POP3', latencyMs: 35 },
  { service: 'Calendars and contacts', latencyMs: 90 },
  { service: 'Incoming mail', latencyMs: 45 },
  { service: 'Outgoing mail', latencyMs: 60 },
  { service: 'REST API', latencyMs: 110 },
  { service: 'Webhook delivery', latencyMs: 75 },
  { service: 'Sign-in', latencyMs: 180 },
  { service: 'Admin console', latencyMs: 220 },
]

/** A group of monitors: it is up while all of them are. */
export const monitorGroup = {
  name: 'Mail delivery',
  services: ['Incoming mail', 'Outgoing mail', 'IMAP and POP3'],
} as const satisfies { readonly name: string; readonly services: readonly ServiceName[] }

/** Returns a UTC time of day (`HH:MM`) on the day that is `days` after `now`. */
export function utcTimeOn(now: Date, days: number, time: string): Date {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return new Date(utcDay(now).getTime() + days * DAY + hours * HOUR + minutes * MINUTE)
}

/** An incident update. */
interface IncidentUpdateFixture {
  /** Minutes after the start of the incident. */
  readonly minute: number
  readonly status: IncidentStatus
  readonly message: string
  /** Status changes of services. */
  readonly services?: Partial<Record<ServiceName, Exclude<ServiceStatus, 'UNDER_MAINTENANCE'>>>
}

export interface IncidentFixture {
  readonly title: string
  readonly impact: IncidentImpact
  /** The first update creates the incident. */
  readonly updates: readonly IncidentUpdateFixture[]
}

/** An incident that started `daysAgo` days before today, at a UTC time of day (`HH:MM`). */
export interface PastIncident extends IncidentFixture {
  readonly daysAgo: number
  readonly time: string
}

export interface MaintenanceFixture {
  readonly title: string
  readonly message: string
  readonly services: readonly ServiceName[]
  /** The UTC time of day (`HH:MM`) at which it starts. */
  readonly time: string
  /** The planned duration in minutes. */
  readonly minutes: number
  readonly announcedDaysBefore: number
}

/** A maintenance that started, or was due to start, `daysAgo` days before today. */
export interface PastMaintenance extends MaintenanceFixture {
  readonly daysAgo: number
  /** Maintenance updates, in minutes after its start. */
  readonly updates?: readonly { minute: number; message: string; status?: 'VERIFYING' | 'COMPLETED' }[]
  /** When and why it was cancelled. */
  readonly cancelled?: { readonly daysBefore: number; readonly message: string }
}

/** A maintenance that starts `daysAhead` days after today. */
export interface PlannedMaintenance extends MaintenanceFixture {
  readonly daysAhead: number
}

/** The incident that is open when the demo starts. */
export const openIncident: IncidentFixture & { readonly minutesAgo: number } = {
  minutesAgo: 52,
  title: 'Delayed webhooks and outgoing mail',
  impact: 'MAJOR',
  updates: [
    {
      minute: 7,
      status: 'INVESTIGATING',
      message:
        'Webhooks arrive up to 15 minutes late. Messages themselves are accepted and sent. We are investigating.',
      services: { 'Webhook delivery': 'DEGRADED_PERFORMANCE' },
    },
    {
      minute: 21,
      status: 'IDENTIFIED',
      message:
        'One of the three nodes of the delivery queue has a failing disk and slows down the other two. About **one webhook in four** is not being delivered, and mail to large recipients waits in the queue for up to 10 minutes.\n\nNothing is lost: queued webhooks and mail will be delivered in order once the node is replaced.',
      services: { 'Webhook delivery': 'PARTIAL_OUTAGE', 'Outgoing mail': 'DEGRADED_PERFORMANCE' },
    },
    {
      minute: 44,
      status: 'IDENTIFIED',
      message:
        'The new node is in place and is copying its share of the queue. We expect this to take another half hour.',
    },
  ],
}

/** Past incidents, latest first. */
export const pastIncidents: readonly PastIncident[] = [
  {
    daysAgo: 3,
    time: '08:12',
    title: 'Search does not find new messages',
    impact: 'MINOR',
    updates: [
      {
        minute: 26,
        status: 'INVESTIGATING',
        message: 'Search does not find messages that arrived after 08:00 UTC. They are in your mailbox as usual.',
        services: { Search: 'DEGRADED_PERFORMANCE' },
      },
      {
        minute: 58,
        status: 'MONITORING',
        message: 'The indexer stopped at a message with a damaged attachment. It is running again and catching up.',
      },
      { minute: 131, status: 'RESOLVED', message: 'Search finds all messages again.' },
    ],
  },
  {
    daysAgo: 8,
    time: '13:40',
    title: 'Single sign-on with Microsoft Entra fails',
    impact: 'MAJOR',
    updates: [
      {
        minute: 9,
        status: 'INVESTIGATING',
        message: 'Signing in through Microsoft Entra fails with an error. Active sessions are not affected.',
        services: { 'Sign-in': 'PARTIAL_OUTAGE' },
      },
      {
        minute: 24,
        status: 'IDENTIFIED',
        message:
          'Microsoft changed its signing keys, and we refresh our copy only once a day. We are refreshing it manually. Until then, administrators can send users a sign-in link from the admin console.',
      },
      { minute: 37, status: 'MONITORING', message: 'Sign-in works again.', services: { 'Sign-in': 'OPERATIONAL' } },
      {
        minute: 95,
        status: 'RESOLVED',
        message: 'Sign-in has worked for an hour. We now refresh the keys whenever we see an unknown one.',
      },
    ],
  },
  {
    daysAgo: 12,
    time: '21:05',
    title: 'Invoices show the wrong billing period',
    impact: 'NONE',
    updates: [
      {
        minute: 40,
        status: 'IDENTIFIED',
        message:
          'This month’s invoices show last month as the billing period. The amounts are correct, and no customer is charged twice.',
      },
      {
        minute: 910,
        status: 'RESOLVED',
        message: 'We corrected the invoices and sent them again to the affected customers.',
      },
    ],
  },
  {
    daysAgo: 19,
    time: '05:47',
    title: 'Webmail and mail programs cannot connect',
    impact: 'CRITICAL',
    updates: [
      {
        minute: 5,
        status: 'INVESTIGATING',
        message: 'Most connections to webmail and IMAP fail. We are investigating.',
        services: { Webmail: 'MAJOR_OUTAGE', 'IMAP and POP3': 'MAJOR_OUTAGE' },
      },
      {
        minute: 18,
        status: 'IDENTIFIED',
        message:
          'A network change in Amsterdam disconnected the mailbox servers. We are reverting it.\n\nWe accept and queue incoming mail; **no mail is lost**.',
        services: {
          'Calendars and contacts': 'MAJOR_OUTAGE',
          Search: 'MAJOR_OUTAGE',
          'Incoming mail': 'DEGRADED_PERFORMANCE',
        },
      },
      {
        minute: 41,
        status: 'MONITORING',
        message:
          'We reverted the change, and mailboxes are reachable again. Queued mail is being delivered, which takes about an hour.',
        services: {
          Webmail: 'OPERATIONAL',
          'IMAP and POP3': 'DEGRADED_PERFORMANCE',
          'Calendars and contacts': 'OPERATIONAL',
          Search: 'OPERATIONAL',
        },
      },
      {
        minute: 118,
        status: 'RESOLVED',
        message: 'All mail is delivered, and connections are back to normal. We will publish a postmortem here.',
      },
      {
        minute: 3060,
        status: 'RESOLVED',
        message:
          '**What happened.** At 05:47 UTC a routine change to the routers in Amsterdam was applied to both at once instead of one after the other. It contained an error that our checks did not catch.\n\n**What we have changed.**\n\n- Both routers can no longer be changed within the same hour.\n- A change that disconnects the mailbox servers is reverted automatically after two minutes.\n- Webmail now fails over to Frankfurt automatically; until now, an engineer had to decide.\n\nWe are sorry for the disruption.',
      },
    ],
  },
  {
    daysAgo: 27,
    time: '15:20',
    title: 'Mail to Gmail is delayed',
    impact: 'MINOR',
    updates: [
      {
        minute: 33,
        status: 'INVESTIGATING',
        message:
          'Google defers some of our mail with `421 4.7.28`. We retry until it is accepted; the average delay is 20 minutes.',
        services: { 'Outgoing mail': 'DEGRADED_PERFORMANCE' },
      },
      {
        minute: 75,
        status: 'IDENTIFIED',
        message:
          'A customer’s account was compromised and used for spam. We locked it and removed its mail from the queue.',
      },
      { minute: 160, status: 'MONITORING', message: 'Google accepts our mail again. The queue is getting shorter.' },
      { minute: 214, status: 'RESOLVED', message: 'Mail to Gmail arrives within seconds again.' },
    ],
  },
  {
    daysAgo: 34,
    time: '10:02',
    title: 'Slow REST API responses',
    impact: 'MINOR',
    updates: [
      {
        minute: 12,
        status: 'INVESTIGATING',
        message: 'One request in ten takes more than five seconds.',
        services: { 'REST API': 'DEGRADED_PERFORMANCE' },
      },
      {
        minute: 29,
        status: 'MONITORING',
        message:
          'A report for a very large domain used up the database connections. Reports now have their own connection pool.',
      },
      { minute: 66, status: 'RESOLVED', message: 'Response times are back to normal.' },
    ],
  },
  {
    daysAgo: 46,
    time: '17:31',
    title: 'Spam filter holds back legitimate mail',
    impact: 'MAJOR',
    updates: [
      {
        minute: 22,
        status: 'IDENTIFIED',
        message:
          'Since a rule update at 17:30 UTC, the filter has marked many newsletters and invoices as spam. We are restoring this morning’s rules.',
        services: { 'Spam and virus filter': 'PARTIAL_OUTAGE' },
      },
      {
        minute: 31,
        status: 'MONITORING',
        message: 'The old rules are active. We are moving the held messages to their inboxes.',
        services: { 'Spam and virus filter': 'OPERATIONAL' },
      },
      { minute: 148, status: 'RESOLVED', message: 'All 61,000 messages are delivered. You don’t need to do anything.' },
    ],
  },
  {
    daysAgo: 58,
    time: '07:15',
    title: 'Calendars do not sync on iPhones',
    impact: 'MINOR',
    updates: [
      {
        minute: 50,
        status: 'INVESTIGATING',
        message: 'Since the latest iOS update, some calendars do not show new appointments. Webmail shows them.',
        services: { 'Calendars and contacts': 'DEGRADED_PERFORMANCE' },
      },
      {
        minute: 215,
        status: 'IDENTIFIED',
        message: 'iOS sends a header that our CalDAV server rejects. We are testing a fix.',
      },
      {
        minute: 340,
        status: 'RESOLVED',
        message: 'The fix is live. Calendars sync automatically within an hour.',
      },
    ],
  },
  {
    daysAgo: 71,
    time: '11:54',
    title: 'Admin console is unavailable',
    impact: 'MINOR',
    updates: [
      {
        minute: 4,
        status: 'INVESTIGATING',
        message: 'The admin console shows an error page. Mail is not affected.',
        services: { 'Admin console': 'MAJOR_OUTAGE' },
      },
      { minute: 19, status: 'RESOLVED', message: 'We rolled back a faulty release.' },
    ],
  },
  {
    daysAgo: 79,
    time: '02:26',
    title: 'Mailing lists deliver twice',
    impact: 'MINOR',
    updates: [
      {
        minute: 61,
        status: 'IDENTIFIED',
        message:
          'After a restart, some lists sent messages from the last hour twice. We have stopped the lists until the cause is fixed.',
        services: { 'Mailing lists': 'MAJOR_OUTAGE' },
      },
      {
        minute: 97,
        status: 'MONITORING',
        message: 'The lists are running again.',
        services: { 'Mailing lists': 'OPERATIONAL' },
      },
      { minute: 180, status: 'RESOLVED', message: 'No message has been sent twice since then.' },
    ],
  },
  {
    daysAgo: 89,
    time: '14:08',
    title: 'Frankfurt rejects some incoming mail',
    impact: 'MINOR',
    updates: [
      {
        minute: 15,
        status: 'INVESTIGATING',
        message:
          'Our MX servers in Frankfurt reject about 5 % of connections. Senders retry in Amsterdam, so mail arrives a few minutes late.',
        services: { 'Incoming mail': 'DEGRADED_PERFORMANCE' },
      },
      {
        minute: 52,
        status: 'RESOLVED',
        message:
          'We renewed an expired certificate on the last of the servers. We now monitor certificate expiry on all of them.',
      },
    ],
  },
]

/** Past maintenances, latest first. */
export const pastMaintenances: readonly PastMaintenance[] = [
  {
    daysAgo: 6,
    time: '22:00',
    minutes: 90,
    announcedDaysBefore: 7,
    title: 'New servers for webmail',
    message:
      'We are moving webmail to new servers. You may be signed out once; your unsent message is saved as a draft.',
    services: ['Webmail'],
    updates: [
      {
        minute: 48,
        status: 'VERIFYING',
        message: 'All users are on the new servers. We are monitoring them.',
      },
      { minute: 75, status: 'COMPLETED', message: 'Completed early. Webmail now opens in half the time.' },
    ],
  },
  {
    daysAgo: 23,
    time: '03:00',
    minutes: 60,
    announcedDaysBefore: 5,
    title: 'Database upgrade of the REST API',
    message: 'The REST API responds with `503` for at most five minutes. Webhooks are queued and sent afterwards.',
    services: ['REST API', 'Webhook delivery'],
  },
  {
    daysAgo: 38,
    time: '04:00',
    minutes: 120,
    announcedDaysBefore: 10,
    title: 'Power maintenance in Frankfurt',
    message: 'The data centre tests its emergency power. Amsterdam takes over all incoming mail.',
    services: ['Incoming mail'],
    cancelled: { daysBefore: 2, message: 'The data centre has postponed its test. We will announce a new date.' },
  },
  {
    daysAgo: 63,
    time: '21:30',
    minutes: 180,
    announcedDaysBefore: 14,
    title: 'Moving mailboxes to encrypted storage',
    message: 'Each mailbox is unavailable for about a minute while it moves.',
    services: ['Webmail', 'IMAP and POP3'],
    updates: [{ minute: 95, message: 'Half of the mailboxes have moved without problems.' }],
  },
]

/** Planned maintenances, soonest first. */
export const plannedMaintenances: readonly PlannedMaintenance[] = [
  {
    daysAhead: 3,
    time: '03:00',
    minutes: 60,
    announcedDaysBefore: 8,
    title: 'New signing certificate for single sign-on',
    message:
      'Signing in through your own identity provider may fail for a few minutes. Active sessions are not affected.\n\nIf your provider does not refresh our metadata automatically, [install the new certificate](https://help.northwind.example/sso) beforehand.',
    services: ['Sign-in', 'Admin console'],
  },
  {
    daysAhead: 11,
    time: '21:00',
    minutes: 150,
    announcedDaysBefore: 12,
    title: 'Upgrade of the search index',
    message: 'While the index is rebuilt, search covers only the last 30 days.',
    services: ['Search'],
  },
]

/** All markdown messages of the fixtures. */
export const fixtureMessages: readonly string[] = [
  ...[openIncident, ...pastIncidents].flatMap(({ updates }) => updates.map(({ message }) => message)),
  ...pastMaintenances.flatMap(({ message, updates = [], cancelled }) => [
    message,
    ...updates.map((update) => update.message),
    ...(cancelled ? [cancelled.message] : []),
  ]),
  ...plannedMaintenances.map(({ message }) => message),
]
