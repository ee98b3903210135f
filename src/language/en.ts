import type { NthWeekday } from './formats.ts'
import { formatsOf, rich, upperFirst } from './formats.ts'

const { number, percent, plural, list, duration, date } = formatsOf('en-GB')

const lasting = (milliseconds: number) => duration(milliseconds) ?? 'under a minute'
const open = (incidents: number) => plural(incidents, { one: 'one incident is open', other: '# incidents are open' })
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const ordinals = ['first', 'second', 'third', 'fourth', 'fifth']
const every = (count: number, unit: string) =>
  count === 1 ? `Every ${unit}` : count === 2 ? `Every other ${unit}` : `Every ${number(count)} ${unit}s`
const dayOfYear = date('UTC', { day: 'numeric', month: 'long' })

/** The direction of writing. */
const leftToRight = 'ltr' as 'ltr' | 'rtl'

/** The texts of status pages and subscriptions in English. All other languages have the same keys. */
export const en = {
  /** The language of HTML (BCP 47), the locale of `Intl`, the language’s name for itself, and its direction. */
  tag: 'en',
  locale: 'en-GB',
  name: 'English',
  dir: leftToRight,
  date,
  number,
  percent,
  duration: lasting,
  /** Ends a text as a sentence. */
  sentence: (text: string) => `${text}.`,
  /** Joins names, followed by the number of others. */
  names: (names: readonly string[], more: number) =>
    list(more > 0 ? [...names, plural(more, { one: '# more', other: '# more' })] : names),

  status: {
    OPERATIONAL: 'Operational',
    DEGRADED_PERFORMANCE: 'Degraded performance',
    PARTIAL_OUTAGE: 'Partial outage',
    MAJOR_OUTAGE: 'Major outage',
    UNDER_MAINTENANCE: 'Under maintenance',
    UNKNOWN: 'No data',
  },
  firstProbePending: 'Waiting for first result',
  noStatusYet: 'No status yet',
  noDataSince: (time: string) => `No data since ${time}`,
  incidentStatus: {
    INVESTIGATING: 'Investigating',
    IDENTIFIED: 'Identified',
    MONITORING: 'Monitoring',
    RESOLVED: 'Resolved',
  },
  impact: {
    NONE: 'No impact',
    MINOR: 'Minor impact',
    MAJOR: 'Major impact',
    CRITICAL: 'Critical impact',
  },
  maintenanceStatus: {
    SCHEDULED: 'Scheduled',
    IN_PROGRESS: 'In progress',
    VERIFYING: 'Verifying',
    COMPLETED: 'Completed',
    CANCELLED: 'Cancelled',
  },

  /** The state of a page in one sentence, without a full stop. */
  headline: {
    operational: 'All services are operational',
    operationalWith: (incidents: number) => `All services are operational, ${open(incidents)}`,
    incidentsOnly: (incidents: number) => (incidents === 0 ? 'No open incidents' : upperFirst(open(incidents))),
    /** @param what the affected services. */
    wrong: (status: string, what: string) => `${status}: ${what}`,
    both: (one: string, other: string) => list([one, other]),
    some: (services: number, of: number) =>
      services === of ? `all ${number(of)} services` : `${number(services)} of ${number(of)} services`,
    silentSince: (time: string) => `No monitoring data since ${time}`,
    partlySilentSince: (what: string, time: string) => `No data since ${time}: ${what}`,
  },
  /** A short form, for badges. */
  allOperational: 'All systems operational',

  page: {
    /** @param what what the page shows. @param owner the name of the page’s owner. */
    title: (what: string, owner: string) => `${what} · ${owner} status`,
    feed: (owner: string) => `${owner} status`,
    description: (state: string, owner: string) =>
      `${state}. Live status, incidents and scheduled maintenance for ${owner}.`,
    skip: 'Skip to content',
    ownersLinks: (owner: string) => `${owner} links`,
    getUpdates: 'Get updates',
    notFound: 'Page not found',
    current: 'Current status',
    timesIn: (zone: string) => `Times in ${zone}.`,
    feeds: 'Feeds',
    calendar: 'Maintenance calendar',
    by: <T>(name: T) => rich`Status page by ${name}`,
    language: 'Language',
    reload: 'Reload this page for updates.',
    stale: <T>(time: T) => rich`As of ${time}. We can’t get newer data right now.`,
  },
  live: {
    live: 'Live',
    upToDateAt: (time: string) => `Up to date at ${time}`,
    lastUpdatedAt: (time: string) => `Last updated at ${time}`,
    lost: (time: string) => `Connection lost. Last updated at ${time}.`,
    /** A time in the reader’s own time zone. */
    ownTime: (time: string) => `${time}, your time`,
  },

  overview: {
    openIncidents: 'Open incidents',
    maintenanceInProgress: 'Maintenance in progress',
    scheduledMaintenance: 'Scheduled maintenance',
    services: 'Services',
    noServices: 'No services yet.',
    filterByName: 'Filter by name',
    onlyProblems: 'Only problems',
    pastIncidents: 'Past incidents',
    daysWithoutIncident: (days: number) =>
      plural(days, { one: '# day without an incident', other: '# days without an incident' }),
    noIncidents: (days: number) =>
      plural(days, { one: 'No incidents in the last day.', other: 'No incidents in the last # days.' }),
    noOtherIncidents: (days: number) =>
      plural(days, { one: 'No other incidents in the last day.', other: 'No other incidents in the last # days.' }),
    moreIncidents: (days: number) =>
      plural(days, { one: 'More incidents in the last day:', other: 'More incidents in the last # days:' }),
  },
  history: {
    title: 'Incident history',
    of: (month: string) => `${month} history`,
    description: (owner: string, month: string) => `Incidents and maintenance at ${owner} in ${month}.`,
    none: (month: string) => `No incidents and no maintenance in ${month}.`,
    months: 'Months',
    newer: 'Newer',
    older: 'Older',
    page: (page: number, pages: number) => `Page ${number(page)} of ${number(pages)}`,
  },
  incident: {
    incident: 'Incident',
    announced: (title: string) => `Incident: ${title}.`,
    description: (status: string, title: string, owner: string) => `${status}: ${title}, an incident at ${owner}.`,
    timeline: 'Timeline',
    postmortem: 'Post-mortem',
    summary: 'Summary',
    cause: 'Cause',
    followUp: 'What we’re changing',
    since: <T>(impact: string, time: T) => rich`${impact} since ${time}`,
    lasted: <T>(time: T, milliseconds: number) => rich`${time}, lasted ${lasting(milliseconds)}`,
    affected: (services: string) => `Affected: ${services}`,
    affectedServices: 'Affected services',
    more: (services: number) => plural(services, { one: 'and # more', other: 'and # more' }),
    /** Of an incident or a maintenance. @param source the name of another tool. */
    imported: (source: string) => `Imported from ${source}`,
    allUpdates: (updates: number) => plural(updates, { one: '# update', other: 'All # updates' }),
    newestUpdates: (shown: number, updates: number) => `Newest ${number(shown)} of ${number(updates)} updates`,
    olderUpdates: 'Older updates',
    toNewest: (updates: number) => plural(updates, { one: 'Newest of # update', other: 'Newest of # updates' }),
    edited: <T>(time: T) => rich`edited ${time}`,
    readUpdate: 'Read this update',
    readUpdates: 'Read the updates',
    tooLong: 'This update is too long for this page.',
    /** The files of an update, for screen readers. */
    files: 'Files',
  },
  maintenance: {
    maintenance: 'Maintenance',
    announced: (status: string, title: string) => `Maintenance: ${title}. ${status}.`,
    description: (status: string, title: string, owner: string) => `${status}: ${title}, maintenance at ${owner}.`,
    titled: (title: string) => `Maintenance: ${title}`,
    /** The default text of an update without one. */
    updates: {
      SCHEDULED: 'Maintenance is scheduled.',
      IN_PROGRESS: 'Maintenance is in progress.',
      VERIFYING: 'Maintenance is done and is being verified.',
      COMPLETED: 'Maintenance is complete.',
      CANCELLED: 'Maintenance was cancelled.',
    },
    fromTo: <T>(from: T, to: T) => rich`${from} to ${to}`,
    span: (from: string, to: string) => `${from} to ${to}`,
    calendar: (owner: string) => `${owner} maintenance`,
    updatesInTotal: (updates: number) => plural(updates, { one: '# update in total.', other: '# updates in total.' }),
  },
  /** How a maintenance repeats. Weekdays count from Monday (0), days of a month from 1; -1 is the last day. */
  repeats: {
    days: (count: number) => every(count, 'day'),
    weeks: (count: number, days: readonly number[]) => {
      const names = list(days.map((day) => weekdays[day] ?? ''))
      return count === 1 ? `Every ${names}` : `${every(count, 'week')} on ${names}`
    },
    monthDays: (count: number, days: readonly number[]) =>
      days.includes(-1)
        ? `${every(count, 'month')} on its last day`
        : `${every(count, 'month')} on day ${list(days.map(String))}`,
    monthWeekdays: (count: number, days: readonly NthWeekday[]) =>
      `${every(count, 'month')} on the ${list(days.map(({ nth, day }) => `${ordinals[nth - 1] ?? 'last'} ${weekdays[day]}`))}`,
    years: (count: number, on: Date) => `${every(count, 'year')} on ${dayOfYear(on)}`,
    other: 'Repeats on a custom schedule',
    at: (what: string, time: string) => `${what} at ${time}`,
  },
  service: {
    service: 'Service',
    description: (service: string, owner: string) => `Status and uptime of ${service}, a service of ${owner}.`,
    silentSince: (time: string) => `No monitoring data since ${time}.`,
    setByHand: 'Status set manually.',
    dayByDay: 'Day by day',
    history: 'Incident history',
    newestDays: 'Only the newest days are listed.',
  },

  uptime: {
    noData: 'No data',
    /** @param figure a percentage. */
    measured: (figure: string) => `${figure} uptime`,
    byIncidents: (figure: string) => `${figure} based on incidents`,
    onAverage: (figure: string) => `${figure} uptime on average`,
    basedOn: (uptime: string, milliseconds: number) => `${uptime} in ${lasting(milliseconds)} of data`,
    /** A row of bars, for screen readers. */
    bar: (name: string, days: number, uptime: string, counts: string) =>
      `${name}, ${plural(days, { one: 'last # day', other: 'last # days' })}: ${uptime}. ${counts}.`,
    lastDays: (days: number) => plural(days, { one: 'Last # day', other: 'Last # days' }),
    counts: {
      down: (days: number) => plural(days, { one: '# day with an outage', other: '# days with an outage' }),
      partial: (days: number) =>
        plural(days, { one: '# day with a partial outage', other: '# days with a partial outage' }),
      degraded: (days: number) =>
        plural(days, { one: '# day with degraded performance', other: '# days with degraded performance' }),
      maintenance: (days: number) =>
        plural(days, { one: '# day with maintenance only', other: '# days with maintenance only' }),
      up: (days: number) => plural(days, { one: '# day without problems', other: '# days without problems' }),
      none: (days: number) => plural(days, { one: '# day without data', other: '# days without data' }),
      importedUp: (days: number) =>
        plural(days, { one: '# imported day without problems', other: '# imported days without problems' }),
      importedDown: (days: number) =>
        plural(days, { one: '# imported day with an outage', other: '# imported days with an outage' }),
    },
    legend: {
      up: 'no outage',
      degraded: 'degraded',
      partial: 'partial outage',
      down: 'outage',
      maintenance: 'maintenance only',
      none: 'no data',
      importedUp: 'imported, no outage',
      importedDown: 'imported, outage',
    },
    eachBar: (zone: string) => `Each bar is one day (${zone}), the last one today:`,
    counted: <T>(time: T) => rich`Uptime as monitors measured it; * based on incidents. Figures up to ${time}.`,
    /** Like `counted`, where declared incidents count too. */
    countedBoth: <T>(time: T) =>
      rich`Uptime by monitors and declared incidents, the worse of both; * by incidents alone. Figures up to ${time}.`,
    partialShare: (percent: string) => `A partial outage counts ${percent}.`,
    /** What happened on a day. */
    down: (milliseconds: number) => `down ${lasting(milliseconds)}`,
    partial: (milliseconds: number) => `partial outage ${lasting(milliseconds)}`,
    degraded: (milliseconds: number) => `degraded ${lasting(milliseconds)}`,
    maintenance: (milliseconds: number) => `maintenance ${lasting(milliseconds)}`,
    unknown: (milliseconds: number) => `no data ${lasting(milliseconds)}`,
    /** @param what a status or a note of the day. */
    lasting: (what: string, milliseconds: number) => `${what} for ${lasting(milliseconds)}`,
    listed: (notes: readonly string[]) => upperFirst(notes.join(', ')),
    /** A day’s count, imported from another tool. */
    imported: (source: string, failed: number, checks: number) =>
      `imported from ${source} (failed checks: ${number(failed)} of ${number(checks)})`,
    importedNotCounted: (source: string) => `Days imported from ${source} do not count.`,
    noDataForTime: 'No data for this time.',
    noOutages: 'No outages',
    /** Sums up a service’s days: `Down 41 min in 88 d 18 h monitored.` */
    monitored: (impaired: readonly string[], milliseconds: number) =>
      `${upperFirst(list(impaired))} in ${lasting(milliseconds)} monitored.`,
    reported: (impaired: readonly string[], milliseconds: number) =>
      `${upperFirst(list(impaired))} in ${lasting(milliseconds)}, based on incidents.`,
    notCounted: (excluded: readonly string[]) => `Not counted: ${list(excluded)}.`,
    withoutData: (milliseconds: number) => `${lasting(milliseconds)} without data`,
    ofMaintenance: (milliseconds: number) => `${lasting(milliseconds)} of maintenance`,
  },
  /** The ranges of a service’s row of bars. */
  range: {
    ranges: 'Time shown',
    names: { '24h': '24 hours', '7d': '7 days', '30d': '30 days', '90d': '90 days', year: 'Year' },
    last: {
      '24h': 'last 24 hours',
      '7d': 'last 7 days',
      '30d': 'last 30 days',
      '90d': 'last 90 days',
      year: 'last 365 days',
    },
    begin: {
      '24h': '24 hours ago',
      '7d': '7 days ago',
      '30d': '30 days ago',
      '90d': '90 days ago',
      year: '365 days ago',
    },
    end: { hour: 'Now', day: 'Today', week: 'Today' },
    bar: {
      hour: (zone: string) => `Each bar is one hour (${zone}).`,
      day: (zone: string) => `Each bar is one day (${zone}).`,
      week: (zone: string) => `Each bar is 7 days (${zone}).`,
    },
    weekFrom: (day: string) => `7 days from ${day}`,
    /** The legend of the response times, for each range. */
    responseTimes: {
      '24h': 'Response times, last 24 hours, by hour.',
      '7d': 'Response times, last 7 days, by hour.',
      '30d': 'Response times, last 30 days, by day.',
      '90d': 'Response times, last 90 days, by day.',
      year: 'Response times, last 90 days, by day: older ones are not shown.',
    },
    median: (times: string) => `Median (solid line): ${times}.`,
    about: (time: string) => `about ${time}`,
    fromTo: (least: string, most: string) => `${least} to ${most}`,
    slowest: (time: string, when: string) => `95th percentile (dashed line): up to ${time}, on ${when}.`,
    precision: 'Accurate to 10%.',
    openDay: 'Open a day',
    open: 'Open',
  },
  /** A service’s day or week. */
  day: {
    description: (service: string, day: string) => `What happened to ${service}: ${day}.`,
    fromTo: (from: string, to: string) => `${from} to ${to}`,
    uptime: {
      MONITORS: 'Uptime, measured',
      MONITORS_AND_INCIDENTS: 'Uptime by monitors and incidents',
      INCIDENTS: 'Uptime, based on incidents',
    },
    known: 'Time with data',
    noData: 'No data',
    maintenanceOnly: 'Maintenance only',
    measured: {
      MONITORS: 'Measured',
      MONITORS_AND_INCIDENTS: 'By monitors and incidents',
      INCIDENTS: 'Based on incidents',
    },
    conditions: {
      down: 'Outage',
      partial: 'Partial outage',
      degraded: 'Degraded',
      maintenance: 'Maintenance',
      unknown: 'No data',
    },
    incidents: 'Incidents',
    maintenance: 'Maintenance',
    between: <T>(from: T, to: T) => rich`${from} to ${to}`,
    until: <T>(time: T) => rich`until ${time}`,
    since: <T>(time: T) => rich`since ${time}`,
    allTime: 'all of it so far',
    soFar: (duration: string) => `${duration} so far`,
    more: (count: number) => plural(count, { one: 'And # more.', other: 'And # more.' }),
    nothing: 'Nothing to report.',
    zone: (zone: string) => `Times in ${zone}.`,
    upTo: <T>(time: T) => rich`Up to ${time}.`,
    days: { label: 'Days', earlier: 'Day before', later: 'Day after' },
    weeks: { label: 'Weeks', earlier: '7 days before', later: '7 days after' },
    close: 'Close',
    whole: 'Open as a page',
  },

  /** A month’s report and the email about it. */
  report: {
    title: 'Monthly reports',
    of: (month: string) => `Report for ${month}`,
    none: 'No report yet.',
    corrected: 'Corrected',
    corrections: 'Corrections',
    /** The effect of a correction. */
    kinds: { GOOD: 'counted as available', BAD: 'counted as an outage', EXCLUDED: 'not counted' },
    recovery: 'Mean time until incidents were resolved',
    notCounted: 'Maintenance (not counted)',
    view: 'View the report',
  },
  feed: {
    description: (owner: string) => `Incidents and maintenance at ${owner}`,
  },
  previewImage: {
    live: 'Live status',
    anIncident: 'An incident',
  },

  mail: {
    /** The subject of an email. */
    maintenance: {
      SCHEDULED: (title: string) => `Maintenance scheduled: ${title}`,
      RESCHEDULED: (title: string) => `Maintenance rescheduled: ${title}`,
      UPDATED: (title: string) => `Maintenance update: ${title}`,
      STARTED: (title: string) => `Maintenance started: ${title}`,
      COMPLETED: (title: string) => `Maintenance completed: ${title}`,
      CANCELLED: (title: string) => `Maintenance cancelled: ${title}`,
    },
    incident: (status: string, title: string) => `${status}: ${title}`,
    impact: 'Impact',
    impacts: { NONE: 'None', MINOR: 'Minor', MAJOR: 'Major', CRITICAL: 'Critical' },
    affected: 'Affected',
    service: (name: string, status: string) => `${name} (${status.toLowerCase()})`,
    /** The subject of an email about a service’s new status. */
    serviceIs: (name: string, status: string) => `${status}: ${name}`,
    from: 'From',
    to: 'To',
    viewIncident: 'View the incident',
    viewMaintenance: 'View the maintenance',
    /** The message that replaces all others once a page is private. */
    withheld: { headline: 'There is an update', text: 'This page is now private. Open it to read the update.' },
    viewPage: 'View the status page',
    statusPage: 'Status page',
    /** The heading above the links to the subscription. */
    about: 'About this message',
    manage: 'Manage or unsubscribe',
    reason: (owner: string) => `You subscribed to ${owner}’s status page.`,
    confirm: {
      topic: 'Confirm your subscription',
      headline: (owner: string) => `Confirm: status updates from ${owner}`,
      reason: (owner: string) =>
        `Someone entered this address on the status page of ${owner}. Confirm within 48 hours to get updates. Not you? Ignore this message.`,
    },
    confirmed: {
      topic: 'You’re already subscribed',
      headline: (owner: string) => `You’re already subscribed to status updates from ${owner}`,
      reason: (owner: string) =>
        `Someone entered this address on the status page of ${owner}. It’s already subscribed.`,
    },
  },
  /** The form to subscribe. */
  subscribe: {
    title: 'Get updates',
    lead: (owner: string) => `Get notified about incidents and maintenance at ${owner}.`,
    leadIncident: (title: string) => `Get notified about “${title}” until it’s resolved.`,
    how: 'How',
    channels: {
      EMAIL: 'Email',
      WEBHOOK: 'Webhook',
      SLACK: 'Slack',
      DISCORD: 'Discord',
      TEAMS: 'Microsoft Teams',
      TELEGRAM: 'Telegram',
      FEED: 'Feed reader',
      CALENDAR: 'Calendar',
      SITE: 'Your site',
    },
    email: 'Email address',
    emailHint: 'We’ll send a link to confirm.',
    noMail: 'Email isn’t set up on this service.',
    webhook: 'URL',
    webhookHint: 'We POST signed JSON to it, first a link to confirm.',
    slack: 'Incoming webhook URL',
    slackHint: 'In Slack: Apps, Incoming Webhooks, Add to Slack. The URL begins with https://hooks.slack.com/.',
    discord: 'Webhook URL',
    discordHint: 'In Discord: the channel’s settings, Integrations, Webhooks, Copy Webhook URL.',
    teams: 'Workflow URL',
    teamsHint: 'In Teams: the channel’s Workflows, “Post to a channel when a webhook request is received”.',
    botToken: 'Bot token',
    botTokenHint: 'From @BotFather. The bot must be in the chat.',
    chatId: 'Chat ID',
    chatIdHint: 'A number, or the @name of a channel.',
    feedText:
      'Add one of these addresses to a feed reader, such as Feedly, Inoreader, NetNewsWire or Thunderbird. No sign-up.',
    calendarText:
      'Subscribe to this address in your calendar: Google Calendar “From URL”, Outlook “Subscribe from web”, Apple Calendar “New Calendar Subscription”. Maintenance appears automatically.',
    siteText: 'A badge or status line for your site or intranet. No scripts, no cookies.',
    badge: 'Badge',
    statusLine: 'Status line',
    statusLineHint: (owner: string) => `Only sites that ${owner} allows can show it.`,
    check: 'Check the highlighted fields.',
    needsTopic: 'Choose at least one.',
    problems: {
      email: 'Enter an email address, such as you@example.com.',
      url: 'Enter a public URL that begins with https:// or http://, without a user name.',
      webhookUrl: (service: string) => `Enter a ${service} webhook URL.`,
      botToken: 'Enter a bot’s token, such as 123456:ABC-DEF…',
      chatId: 'Enter the ID of a chat, or a channel’s @name.',
      tooMany: 'Too many requests. Look for our message, in the spam folder too, or try again later.',
      full: 'This page has reached its subscriber limit.',
      resolved: 'This incident is resolved.',
      other: 'That didn’t work. Check the form and try again.',
    },
    submit: 'Subscribe',
    sentTitle: 'Check your messages',
    sent: 'We sent a link to confirm.',
    sentText:
      'It works for 48 hours. Nothing there? Check the spam folder and the address. Already subscribed? The message links to your settings.',
    ownOrigin: 'Submit this form from the page itself.',
    service: 'Notify me',
    incident: 'Notify me until it’s resolved',
    following: 'Until it’s resolved',
  },
  subscription: {
    title: 'Your subscription',
    description: (owner: string) => `Status updates from ${owner}.`,
    forAddress: <T>(address: T) => rich`For ${address}`,
    saved: 'Saved.',
    subscribed: 'You’re subscribed.',
    save: 'Save',
    unsubscribe: 'Unsubscribe',
    confirmText: (owner: string) => `Confirm to get status updates from ${owner}.`,
    confirm: 'Confirm subscription',
    notYou: 'Not you? Ignore this page and nothing more will be sent.',
    unknown: 'This link is not valid, or the subscription was deleted.',
    expired: 'This link has expired. Subscribe again to get a new one.',
    ended: {
      UNSUBSCRIBED: 'You’re unsubscribed.',
      GONE: 'We stopped sending updates: the address no longer exists.',
      BOUNCED: 'We stopped sending updates: the address rejected our messages.',
      COMPLAINED: 'We stopped sending updates: a message was reported as spam.',
    },
    withheld:
      'This page is now private, so messages only say that there is an update. To get full messages, open the page and subscribe again.',
    again: 'Subscribe again to get updates.',
    secret: {
      title: 'Signing secret',
      text: <T>(link: T) => rich`We sign messages as ${link} specifies, with this secret:`,
      rotate: 'Rotate secret',
      rotated: 'The new secret is in use.',
      old: 'The old secret stays valid for 24 hours.',
    },
    notifyMe: 'Notify me about',
    topics: {
      INCIDENTS: 'Incidents',
      MAINTENANCES: 'Maintenance',
      SERVICE_STATUS: 'Every status change (can be frequent)',
      REPORTS: 'Monthly reports',
    },
    onlySome: 'Only some services',
    allWhenNone: 'Leave all unchecked to get all services.',
  },
  /** The form that finds a page by its address. */
  find: {
    title: 'Find a status page',
    label: 'Name in the page’s address',
    open: 'Open',
    missing: 'No status page has this address',
    own: 'Need a page of your own?',
    publish: 'Publish one',
  },
  /** The form in front of a private page. */
  access: {
    title: 'This page is private',
    page: 'Status page',
    password: 'Password',
    wrongPassword: 'The password is wrong.',
    email: 'Email',
    emailHint: 'We’ll email you a link.',
    sendLink: 'Send link',
    sentTitle: 'Check your email',
    sent: 'If this address has access, we’ve sent it a link.',
    open: 'Open',
    members: 'Sign in to read it.',
    networks: 'You can open it from certain networks only.',
    signIn: 'Sign in',
    signInAsMember: 'Sign in as a member',
    goneTitle: 'This link no longer works',
    gone: 'It was already used or has expired.',
    newLink: 'Get a new link',
    notAllowed: 'Not allowed',
    tooMany: 'Too many attempts. Try again later.',
    unavailable: 'Not available right now. Try again later.',
  },
}
