import { expect, test } from 'vitest'
import { runCommand } from '../../src/cli/run.ts'
import { newId } from '../../src/core/id.ts'
import type { MonitorState } from '../../src/generated/prisma/enums.ts'
import { testConsole } from '../support/console.ts'

const { app, database, organization } = await testConsole()
const { prisma } = database

/** A service's only monitor: its state, and whether it is silent; or a service without one, stated or not. */
type Watched = readonly [state: MonitorState | 'STATED' | 'UNSTATED', silent?: 'silent']

/** Creates an organization whose services have one monitor each, or none; heartbeats, so that no probe changes their states. */
async function situation(slug: string, watched: readonly Watched[]) {
  const { organization: owner, signIn } = await organization(slug)
  const at = new Date()
  const organizationId = owner.id
  for (const [index, [state, silent]] of watched.entries()) {
    const [serviceId, monitorId] = [newId('Service'), newId('Monitor')]
    const name = `Service ${index + 1}`
    const row = { organizationId, name, createdAt: at }
    const statedAt = state === 'STATED' ? at : null
    await prisma.service.create({ data: { ...row, id: serviceId, position: index, statedAt } })
    if (state === 'STATED' || state === 'UNSTATED') continue
    const kind = { kind: 'HEARTBEAT', options: { graceSeconds: 60 } } as const
    const settings = { intervalSeconds: 86_400, timeoutMs: 10_000, failureThreshold: 1, recoveryThreshold: 1 }
    await prisma.monitor.create({
      data: {
        ...{ ...row, ...kind, ...settings, id: monitorId, serviceId, state, stateSince: at },
        unknownSince: silent === undefined ? null : at,
      },
    })
  }
  const editor = await signIn('EDITOR')
  // Without a channel, the screen only offers to add one.
  await editor.post('alerts/channels/new', {
    kind: 'webhook',
    name: 'Hook',
    'webhook.url': 'https://hook.example.com/',
  })
  return { slug, editor }
}

async function commandLine(slug: string): Promise<string> {
  const out: string[] = []
  await runCommand(['status', slug], {
    env: { ALLCLEAR_URL: app.baseUrl },
    result: (line) => void out.push(line),
    document: (text) => void out.push(text),
    say: () => undefined,
    progress: () => undefined,
    isPerson: false,
    hasColours: false,
    ask: async () => null,
    edit: async (draft) => draft,
    now: () => new Date(),
    signal: new AbortController().signal,
  })
  return out.join('\n')
}

/** What each door says. */
async function doors({ slug, editor }: Awaited<ReturnType<typeof situation>>) {
  const get = async (path: string) => (await fetch(`${app.baseUrl}/status/${slug}${path}`)).text()
  const query = `{ statusPage(slug: "${slug}") { status { indicator description } } }`
  const asked = await fetch(`${app.baseUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const { data } = (await asked.json()) as { data: { statusPage: { status: { description: string } } } }
  const summary = JSON.parse(await get('/api/v2/summary.json')) as { status: { description: string } }
  return {
    now: (await editor.get('now')).html,
    alerts: (await editor.get('alerts')).html,
    page: /<h1>(.*?)<\/h1>/.exec(await get(''))?.[1] ?? '',
    title: /<title>(.*?)<\/title>/.exec(await get(''))?.[1] ?? '',
    badge: /<title>(.*?)<\/title>/.exec(await get('/badge.svg'))?.[1] ?? '',
    graphql: data.statusPage.status.description,
    statuspage: summary.status.description,
    commandLine: await commandLine(slug),
  }
}

const claims = /Everything is operational|All systems operational|Nothing is wrong/

test.each([
  [
    'up',
    [['UP'], ['UP']],
    'Everything is operational.',
    'Everything is operational.',
    /All (?:systems|services are) operational/i,
  ],
  [
    'waiting',
    [['UP'], ['PENDING'], ['PENDING'], ['PENDING']],
    'No problem is known, but 3 of 4 services and monitors wait for a first result.',
    'No problem is known, but 3 of 4 services and monitors wait for a first result.',
    /Waiting for first result/i,
  ],
  [
    'silent',
    [['UP'], ['UP', 'silent']],
    'No data',
    'No problem is known, but 1 of 2 services and monitors have no data.',
    /No (?:monitoring )?data/,
  ],
  [
    'down',
    [['UP'], ['DOWN']],
    'Major outage',
    'No alert is open, but there are problems.',
    /Major (?:(?:system|service) )?outage/i,
  ],
  [
    'unstated',
    [['UP'], ['STATED'], ['UNSTATED']],
    'No problem is known, but 1 of 3 services and monitors have no status yet.',
    'No problem is known, but 1 of 3 services and monitors have no status yet.',
    /No status yet/i,
  ],
  [
    'unstatedandwaiting',
    [['PENDING'], ['UNSTATED']],
    'No problem is known, but 1 of 2 services and monitors wait for a first result.',
    'No problem is known, but 1 of 2 services and monitors wait for a first result.',
    /Waiting for first result/i,
  ],
  [
    'stated',
    [['STATED']],
    'Everything is operational.',
    'Everything is operational.',
    /All (?:systems|services are) operational/i,
  ],
  ['empty', [], 'Nothing is monitored yet.', 'Alerts', /No open incidents/i],
  [
    'downandwaiting',
    [['DOWN'], ['PENDING']],
    'Major outage',
    'No alert is open, but there are problems.',
    /Major (?:(?:system|service) )?outage/i,
  ],
] as const)('every door says the same of an organization that is %s', async (slug, watched, now, alerts, public_) => {
  const said = await doors(await situation(slug, watched))
  expect(said.now).toContain(now)
  expect(said.alerts).toContain(alerts)
  const { page, title, badge, graphql, statuspage, commandLine: line } = said
  for (const each of [page, title, badge, graphql, statuspage, line]) expect(each).toMatch(public_)
  if (slug !== 'up' && slug !== 'stated')
    for (const [door, each] of Object.entries(said))
      expect([door, each]).not.toContainEqual(expect.stringMatching(claims))
  expect(line).not.toContain(slug === 'waiting' || slug === 'unstated' ? 'degraded' : 'nothing to exclude')
  // Only monitors have results to wait for.
  if (slug === 'unstated') for (const each of Object.values(said)) expect(each).not.toMatch(/waiting for first result/i)
})

test('a first probe that gave no result is said to have ended, and what it said', async () => {
  const { editor } = await situation('failed', [['PENDING']])
  const monitor = await prisma.monitor.findFirstOrThrow({ where: { organization: { slug: 'failed' } } })
  expect((await editor.get('now')).html).toContain('It has not reported yet')
  const at = new Date()
  const watch = { monitorId: monitor.id, region: 'local', state: 'PENDING', stateSince: at } as const
  const found = { lastProbedAt: at, lastMessage: 'Our resolvers refused' }
  await prisma.watch.upsert({
    where: { id: `${monitor.id} test` },
    create: { ...watch, ...found, id: `${monitor.id} test`, region: 'elsewhere' },
    update: found,
  })
  const { html } = await editor.get('now')
  expect(html).toMatch(/No result yet · last probe <time[^>]*>[^<]*<\/time>: Our resolvers refused/)
  expect(html).not.toMatch(/first probe.* running/i)
})
