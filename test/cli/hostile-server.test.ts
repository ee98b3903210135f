import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { runCommand } from '../../src/cli/run.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { temporaryDirectory } from '../support/scratch.ts'

/** Sets the title and the clipboard, erases the screen (7-bit and 8-bit), turns the text around, and returns the carriage. */
const EVIL = 'x\u001b]0;t\u0007\u001b]52;c;ZXZpbA==\u001b\\\u001b[2J\u009b2J\u202e\u2066\u2028\r\b\u0000\u007fy'
const ESCAPE = '\u001b'
const own = new RegExp(`${ESCAPE}\\[(?:0|1|31|32|33|34|90)m`, 'g')
const forbidden = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/u

const page = {
  ...{ name: EVIL, slug: EVIL, cursor: EVIL, status: { indicator: EVIL, description: EVIL } },
  services: [{ id: EVIL, name: EVIL, status: EVIL }],
  incidents: [{ id: EVIL, title: EVIL, status: EVIL, impact: EVIL, startedAt: EVIL }],
}
const monitor = {
  ...{ id: EVIL, name: EVIL, kind: EVIL, state: EVIL },
  lastResult: { at: EVIL, message: EVIL, latencyMs: 1 },
}
const change = {
  ...{ action: 'CREATE', section: EVIL, key: EVIL, name: EVIL, warning: EVIL, isTakenOver: false },
  members: [{ name: EVIL, from: EVIL, to: EVIL }],
}
const plan = {
  ...{ planHash: EVIL, changeCount: 1, takenOver: 0, moved: [EVIL], unchanged: 0, warnings: [EVIL] },
  ...{ changes: [change], deletions: 0, unmanaged: [EVIL] },
}
const incident = { __typename: 'Incident', id: EVIL, title: EVIL, status: EVIL, impact: EVIL, updates: { nodes: [] } }
const data = {
  statusPage: page,
  organization: {
    ...{ slug: 'page', name: EVIL, configuration: `# ${EVIL}\n`, services: [{ id: EVIL, name: EVIL }] },
    monitors: { nodes: [monitor], pageInfo: { hasNextPage: false, endCursor: null } },
    pages: [page],
    incidents: { nodes: [incident], pageInfo: { hasNextPage: false, endCursor: null } },
  },
  blacklists: [{ name: EVIL, health: { status: EVIL } }],
  diagnosis: [{ code: EVIL, subject: EVIL, severity: 'ERROR', message: EVIL, fix: EVIL }],
  ...{ plan, done: incident, incident },
}

/** A service of which every text is hostile. @param isRefusing whether it answers with errors. */
async function hostileService(isRefusing: boolean): Promise<string> {
  const server = createServer((request, response) => {
    const error = { message: EVIL, code: EVIL, extensions: { code: EVIL }, issues: [{ path: [EVIL], message: EVIL }] }
    response.setHeader('content-type', 'application/json')
    if (request.url === '/healthz') return void response.end('{}')
    if (request.url?.startsWith('/api/')) {
      const report = {
        target: EVIL,
        verdict: EVIL,
        lists: [{ name: EVIL, listed: true, response: EVIL, delist_url: EVIL }],
      }
      response.statusCode = isRefusing ? 400 : 200
      return void response.end(JSON.stringify(isRefusing ? { error } : report))
    }
    response.end(JSON.stringify(isRefusing ? { errors: [error] } : { data }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atTheEnd(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const answering = await hostileService(false)
const refusing = await hostileService(true)
const home = await temporaryDirectory()
atTheEnd(home.remove)

async function run(args: readonly string[], url: string, { hasColours = false, isPerson = false } = {}) {
  const written: string[] = []
  const push = (text: string) => void written.push(text)
  await runCommand(args, {
    env: { HOME: home.path, ALLCLEAR_URL: url, ALLCLEAR_KEY: 'key', DATA_DIR: '/nowhere/at/all' },
    ...{ result: push, document: push, say: push, hasColours, isPerson },
    progress: () => undefined,
    ask: async (question) => {
      push(question)
      return 'y'
    },
    edit: async (draft) => draft,
    now: () => new Date(),
    // A command that follows a service ends.
    signal: AbortSignal.timeout(300),
  }).catch((error: unknown) => {
    // The answers lack what some commands need.
    if (!(error instanceof TypeError)) throw error
  })
  return written
}

const commandLines = [
  ['status', EVIL],
  ['status'],
  ['monitors'],
  ['tail'],
  ['check', 'example.com'],
  ['doctor'],
  ['incident', 'update', EVIL, '--status', 'resolved', '--message', 'm'],
  ['login'],
  ['export', '--json'],
  [EVIL],
]

describe.each([
  ['answers', answering],
  ['refuses', refusing],
])('texts of a server that %s', (_, url) => {
  test.each(commandLines)('do not control the terminal: %j %j %j', async (...args) => {
    const words = args.filter((word) => word !== undefined)
    for (const hasColours of [false, true]) {
      for (const more of [[], ['--json']]) {
        const written = await run([...words, ...more], url, { hasColours })
        for (const text of written) expect(hasColours ? text.replace(own, '') : text).not.toMatch(forbidden)
      }
    }
  })
})

test('the tests above see texts of the server, and JSON keeps their values', async () => {
  const text = (await run(['status', 'page'], answering)).join('\n')
  expect(text.match(/x /g)?.length).toBeGreaterThan(3)
  const [json = ''] = await run(['status', 'page', '--json'], answering)
  expect(JSON.parse(json)).toEqual(page)
})

test('an exported file is exact, and harmless on a terminal', async () => {
  expect(await run(['export'], answering)).toEqual([data.organization.configuration])
  const [shown = ''] = await run(['export'], answering, { isPerson: true })
  expect(shown).not.toMatch(forbidden)
})
