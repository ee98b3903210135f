import type { IncidentImpact, IncidentStatus, ServiceStatus } from '../generated/prisma/enums.ts'
import { DAY, HOUR, MINUTE, utcDay } from '../time.ts'

/** Who the demo is about: a company that hosts the mail of others. */
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

/** Groups and their services, as they stand on the page. */
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
      { name: 'Webhook delivery', description: 'Tell you what became of each message.' },
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

/** The services that are monitored, and how long they take to answer as a rule. */
export const watchedServices: readonly { readonly service: ServiceName; readonly latencyMs: number }[] = [
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

/** A time of the UTC day, `HH:MM`, so many days after the day of `now`. */
export function momentOf(now: Date, days: number, time: string): Date {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return new Date(utcDay(now).getTime() + days * DAY + hours * HOUR + minutes * MINUTE)
}

/** An entry of an incident's timeline. */
export interface IncidentEntry {
  /** Minutes after the incident began. */
  readonly minute: number
  readonly status: IncidentStatus
  readonly message: string
  /** What is new of services. */
  readonly services?: Partial<Record<ServiceName, Exclude<ServiceStatus, 'UNDER_MAINTENANCE'>>>
}

export interface IncidentTale {
  readonly title: string
  readonly impact: IncidentImpact
  /** The first one makes the incident known. */
  readonly entries: readonly IncidentEntry[]
}

/** An incident that began so many days before today, at a time (`HH:MM`) of the UTC day. */
export interface PastIncident extends IncidentTale {
  readonly daysAgo: number
  readonly time: string
}

export interface MaintenanceTale {
  readonly title: string
  readonly message: string
  readonly services: readonly ServiceName[]
  /** The time (`HH:MM`) of the UTC day at which it starts. */
  readonly time: string
  /** How long it is planned to take. */
  readonly minutes: number
  readonly announcedDaysBefore: number
}

/** A maintenance that started, or would have, so many days before today. */
export interface PastMaintenance extends MaintenanceTale {
  readonly daysAgo: number
  /** What is told while it runs, in minutes after its start. */
  readonly entries?: readonly { minute: number; message: string; status?: 'VERIFYING' | 'COMPLETED' }[]
  /** When it was called off, and why. */
  readonly cancelled?: { readonly daysBefore: number; readonly message: string }
}

/** A maintenance that starts so many days after today. */
export interface PlannedMaintenance extends MaintenanceTale {
  readonly daysAhead: number
}

/** What is going on when the demo starts; it began so many minutes ago. */
export const openIncident: IncidentTale & { readonly minutesAgo: number } = {
  minutesAgo: 52,
  title: 'Webhooks are late, and some outgoing mail with them',
  impact: 'MAJOR',
  entries: [
    {
      minute: 7,
      status: 'INVESTIGATING',
      message:
        'Webhooks arrive up to 15 minutes late. Messages themselves are accepted and sent. We are looking into it.',
      services: { 'Webhook delivery': 'DEGRADED_PERFORMANCE' },
    },
    {
      minute: 21,
      status: 'IDENTIFIED',
      message:
        'One of the three nodes of the delivery queue has a failing disk and slows down the other two. About **one webhook in four** is not delivered at present, and mail to large recipients waits in the queue for up to 10 minutes.\n\nNothing is lost: what waits is delivered, in order, once the node is replaced.',
      services: { 'Webhook delivery': 'PARTIAL_OUTAGE', 'Outgoing mail': 'DEGRADED_PERFORMANCE' },
    },
    {
      minute: 44,
      status: 'IDENTIFIED',
      message: 'The new node is in place and copies its share of the queue. We expect that to take another half hour.',
    },
  ],
}

/** The latest first. */
export const pastIncidents: readonly PastIncident[] = [
  {
    daysAgo: 3,
    time: '08:12',
    title: 'Search leaves out new messages',
    impact: 'MINOR',
    entries: [
      {
        minute: 26,
        status: 'INVESTIGATING',
        message: 'Messages that arrived after 08:00 UTC are not found by search. They are in your mailbox as usual.',
        services: { Search: 'DEGRADED_PERFORMANCE' },
      },
      {
        minute: 58,
        status: 'MONITORING',
        message: 'The indexer had stopped after a message with a damaged attachment. It runs again and catches up.',
      },
      { minute: 131, status: 'RESOLVED', message: 'All messages are found again.' },
    ],
  },
  {
    daysAgo: 8,
    time: '13:40',
    title: 'Single sign-on with Microsoft Entra fails',
    impact: 'MAJOR',
    entries: [
      {
        minute: 9,
        status: 'INVESTIGATING',
        message: 'Signing in through Microsoft Entra ends in an error. Those who are signed in stay so.',
        services: { 'Sign-in': 'PARTIAL_OUTAGE' },
      },
      {
        minute: 24,
        status: 'IDENTIFIED',
        message:
          'Microsoft has changed its signing keys, and our copy of them was renewed only once a day. We are renewing it by hand. Until then, administrators can send users a sign-in link from the admin console.',
      },
      { minute: 37, status: 'MONITORING', message: 'Signing in works again.', services: { 'Sign-in': 'OPERATIONAL' } },
      {
        minute: 95,
        status: 'RESOLVED',
        message: 'Signing in has worked for an hour. Keys are now fetched whenever one is used that we do not know.',
      },
    ],
  },
  {
    daysAgo: 12,
    time: '21:05',
    title: 'Invoices show the wrong billing period',
    impact: 'NONE',
    entries: [
      {
        minute: 40,
        status: 'IDENTIFIED',
        message:
          'Invoices of this month name last month as their period. The amounts are right, and nobody is charged twice.',
      },
      { minute: 910, status: 'RESOLVED', message: 'The invoices are corrected, and sent again to whom they concern.' },
    ],
  },
  {
    daysAgo: 19,
    time: '05:47',
    title: 'Webmail and mail programs cannot connect',
    impact: 'CRITICAL',
    entries: [
      {
        minute: 5,
        status: 'INVESTIGATING',
        message: 'Most connections to webmail and to IMAP fail. We are on it.',
        services: { Webmail: 'MAJOR_OUTAGE', 'IMAP and POP3': 'MAJOR_OUTAGE' },
      },
      {
        minute: 18,
        status: 'IDENTIFIED',
        message:
          'A change to the network in Amsterdam has cut the mailbox servers off. We are undoing it.\n\nIncoming mail is accepted and kept; **no mail is lost**.',
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
          'The change is undone, and mailboxes can be reached. Mail that has waited is being delivered; that takes about an hour.',
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
        message:
          'All mail is delivered, and all connections are back to normal. We will tell here how this could happen.',
      },
      {
        minute: 3060,
        status: 'RESOLVED',
        message:
          '**What happened.** At 05:47 UTC a routine change to the routers in Amsterdam was applied to both at once instead of one after the other. It had an error that our check did not know.\n\n**What we have changed.**\n\n- Both routers can no longer be changed within the same hour.\n- A change that cuts off the mailbox servers undoes itself after two minutes.\n- Webmail now fails over to Frankfurt by itself; until now a person had to decide.\n\nWe are sorry for the morning this has cost you.',
      },
    ],
  },
  {
    daysAgo: 27,
    time: '15:20',
    title: 'Mail to Gmail is delayed',
    impact: 'MINOR',
    entries: [
      {
        minute: 33,
        status: 'INVESTIGATING',
        message:
          'Google defers part of our mail with `421 4.7.28`. It is sent again until it is accepted, with a delay of 20 minutes on average.',
        services: { 'Outgoing mail': 'DEGRADED_PERFORMANCE' },
      },
      {
        minute: 75,
        status: 'IDENTIFIED',
        message: 'One customer’s account was stolen and used for spam. It is locked, and its mail is out of the queue.',
      },
      { minute: 160, status: 'MONITORING', message: 'Google accepts our mail again. The queue is getting shorter.' },
      { minute: 214, status: 'RESOLVED', message: 'Mail to Gmail arrives within seconds, as it should.' },
    ],
  },
  {
    daysAgo: 34,
    time: '10:02',
    title: 'REST API answers slowly',
    impact: 'MINOR',
    entries: [
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
          'A report over a very large domain had used up the database’s connections. Reports now have their own.',
      },
      { minute: 66, status: 'RESOLVED', message: 'Answers are as quick as before.' },
    ],
  },
  {
    daysAgo: 46,
    time: '17:31',
    title: 'Spam filter holds back legitimate mail',
    impact: 'MAJOR',
    entries: [
      {
        minute: 22,
        status: 'IDENTIFIED',
        message:
          'Since the rules of 17:30 UTC the filter takes many newsletters and invoices for spam. We are going back to the rules of this morning.',
        services: { 'Spam and virus filter': 'PARTIAL_OUTAGE' },
      },
      {
        minute: 31,
        status: 'MONITORING',
        message: 'The old rules are in use. We are moving what was held back to the inboxes it belongs to.',
        services: { 'Spam and virus filter': 'OPERATIONAL' },
      },
      { minute: 148, status: 'RESOLVED', message: 'All 61,000 messages are where they belong. You need do nothing.' },
    ],
  },
  {
    daysAgo: 58,
    time: '07:15',
    title: 'Calendars do not synchronize on iPhones',
    impact: 'MINOR',
    entries: [
      {
        minute: 50,
        status: 'INVESTIGATING',
        message: 'Since the latest iOS update some calendars show no new appointments. Webmail shows them.',
        services: { 'Calendars and contacts': 'DEGRADED_PERFORMANCE' },
      },
      {
        minute: 215,
        status: 'IDENTIFIED',
        message: 'iOS sends a header that our CalDAV server refuses. A correction is being tested.',
      },
      {
        minute: 340,
        status: 'RESOLVED',
        message: 'The correction is in use. Calendars synchronize by themselves within an hour.',
      },
    ],
  },
  {
    daysAgo: 71,
    time: '11:54',
    title: 'Admin console cannot be reached',
    impact: 'MINOR',
    entries: [
      {
        minute: 4,
        status: 'INVESTIGATING',
        message: 'The admin console shows an error page. Mail is not affected.',
        services: { 'Admin console': 'MAJOR_OUTAGE' },
      },
      { minute: 19, status: 'RESOLVED', message: 'A release was faulty and is taken back.' },
    ],
  },
  {
    daysAgo: 79,
    time: '02:26',
    title: 'Mailing lists deliver twice',
    impact: 'MINOR',
    entries: [
      {
        minute: 61,
        status: 'IDENTIFIED',
        message:
          'After a restart some lists have sent messages of the last hour a second time. We have stopped the lists until that is certain to be over.',
        services: { 'Mailing lists': 'MAJOR_OUTAGE' },
      },
      {
        minute: 97,
        status: 'MONITORING',
        message: 'The lists run again.',
        services: { 'Mailing lists': 'OPERATIONAL' },
      },
      { minute: 180, status: 'RESOLVED', message: 'No message has been sent twice since.' },
    ],
  },
  {
    daysAgo: 89,
    time: '14:08',
    title: 'Frankfurt refuses part of incoming mail',
    impact: 'MINOR',
    entries: [
      {
        minute: 15,
        status: 'INVESTIGATING',
        message:
          'Our MX servers in Frankfurt refuse about 5 % of connections. Senders try again in Amsterdam, so mail arrives, with a delay of minutes.',
        services: { 'Incoming mail': 'DEGRADED_PERFORMANCE' },
      },
      {
        minute: 52,
        status: 'RESOLVED',
        message: 'An expired certificate is renewed on the last of the servers. They are now watched for that, too.',
      },
    ],
  },
]

/** The latest first. */
export const pastMaintenances: readonly PastMaintenance[] = [
  {
    daysAgo: 6,
    time: '22:00',
    minutes: 90,
    announcedDaysBefore: 7,
    title: 'New servers for webmail',
    message: 'We move webmail to new servers. You may be signed out once; what you are writing is kept as a draft.',
    services: ['Webmail'],
    entries: [
      {
        minute: 48,
        status: 'VERIFYING',
        message: 'Everybody is on the new servers. We are watching them for a while.',
      },
      { minute: 75, status: 'COMPLETED', message: 'Done, a little early. Webmail opens in half the time now.' },
    ],
  },
  {
    daysAgo: 23,
    time: '03:00',
    minutes: 60,
    announcedDaysBefore: 5,
    title: 'Database upgrade of the REST API',
    message:
      'The REST API answers `503` for at most five minutes. Webhooks are held back meanwhile, and sent afterwards.',
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
    cancelled: { daysBefore: 2, message: 'The data centre has put its test off. We will announce a new date.' },
  },
  {
    daysAgo: 63,
    time: '21:30',
    minutes: 180,
    announcedDaysBefore: 14,
    title: 'Moving mailboxes to encrypted storage',
    message: 'Each mailbox cannot be reached for about a minute while it moves.',
    services: ['Webmail', 'IMAP and POP3'],
    entries: [{ minute: 95, message: 'Half of the mailboxes have moved, without trouble.' }],
  },
]

/** The soonest first. */
export const plannedMaintenances: readonly PlannedMaintenance[] = [
  {
    daysAhead: 3,
    time: '03:00',
    minutes: 60,
    announcedDaysBefore: 8,
    title: 'New signing certificate for single sign-on',
    message:
      'Signing in through your own identity provider may fail for a few minutes. Those who are signed in stay so.\n\nIf your provider does not read our metadata by itself, [install the new certificate](https://help.northwind.example/sso) before.',
    services: ['Sign-in', 'Admin console'],
  },
  {
    daysAhead: 11,
    time: '21:00',
    minutes: 150,
    announcedDaysBefore: 12,
    title: 'Upgrade of the search index',
    message: 'Search finds only messages of the last 30 days while the index is rebuilt.',
    services: ['Search'],
  },
]

/** What the story says in markdown. */
export const messagesOfStory: readonly string[] = [
  ...[openIncident, ...pastIncidents].flatMap(({ entries }) => entries.map(({ message }) => message)),
  ...pastMaintenances.flatMap(({ message, entries = [], cancelled }) => [
    message,
    ...entries.map((entry) => entry.message),
    ...(cancelled ? [cancelled.message] : []),
  ]),
  ...plannedMaintenances.map(({ message }) => message),
]
