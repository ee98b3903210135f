// @slow
import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { transaction } from '../../src/core/context.ts'
import { DAY, HOUR } from '../../src/core/time.ts'
import { openDatabase } from '../../src/database/client.ts'
import { insertMembership } from '../../src/people/membership.ts'
import { startSession } from '../../src/people/session.ts'
import { insertUser } from '../../src/people/user.ts'
import { testContext } from '../support/context.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { type FilledOrganization, filledOrganization, mutate } from '../support/filled-organization.ts'
import { sampleSeed } from '../support/runs.ts'
import { silent } from '../support/scratch.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { operatorToken, testData } from '../support/service-data.ts'
import { type Choice, casesOf, runCampaign } from './campaign.ts'
import { formPlaces } from './form-places.ts'
import { graphqlPlaces } from './graphql-places.ts'
import type { Caller } from './input.ts'
import { pathPlaces } from './path-places.ts'
import { OWN_HOST, type Program, startProgram } from './program.ts'
import { socketPlaces } from './socket-places.ts'

const { FUZZ, FUZZ_SEED, FUZZ_CASE } = process.env
/** Whether all inputs are sent, and not only a sample. */
const isWhole = FUZZ === 'whole'
const choice: Choice = {
  seed: FUZZ_SEED ?? (isWhole ? Math.floor(Math.random() * 2 ** 32).toString(16) : sampleSeed),
  only: FUZZ_CASE === undefined ? null : Number(FUZZ_CASE),
  about: isWhole ? Number(process.env['FUZZ_INPUTS'] ?? 30_000) : 800,
}

let program: Program
let organization: FilledOrganization
let keys: Readonly<Record<'READ' | 'WRITE' | 'ADMIN', string>>
let sessions: Readonly<Record<'person' | 'operator', string>>
let integration: string
let clean = async () => {}

beforeAll(async () => {
  const data = await testData()
  const dns = await startDnsServer(scriptedLists())
  clean = async () => {
    await dns.close()
    await data.remove()
  }
  const settings = { DATA_DIR: data.dataDir, ADMIN_TOKEN: operatorToken, ...data.settings }
  const first = await startProgram(dns, settings)
  const startsAt = new Date(Date.now() + DAY)
  organization = await filledOrganization(first.url, { startsAt, endsAt: new Date(startsAt.getTime() + HOUR) })
  const key = async (scope: string) => {
    const selection = 'secret'
    const input = { name: scope, scope }
    return (
      await mutate<{ secret: string }>(
        first.url,
        organization.key,
        'createApiKey',
        'CreateApiKeyPayload',
        input,
        selection,
      )
    ).secret
  }
  keys = { READ: await key('READ'), WRITE: await key('WRITE'), ADMIN: organization.key }
  const tool = { name: 'Alertmanager', kind: 'ALERTMANAGER' }
  const { url } = await mutate<{ url: string }>(
    first.url,
    organization.key,
    'createIntegration',
    'Integration',
    tool,
    'url',
  )
  integration = new URL(url).pathname
  await first.stop()
  sessions = await insertPeople(data)
  program = await startProgram(dns, settings)
})

afterAll(async () => {
  await program?.stop()
  await clean()
})

/** Creates a person who owns the organization, and one who is the operator. Returns the tokens of their sessions. */
async function insertPeople({ dataDir, settings }: Awaited<ReturnType<typeof testData>>): Promise<typeof sessions> {
  const database = await openDatabase({ dataDir, databaseUrl: settings['DATABASE_URL'], log: silent })
  try {
    const operator = testContext(database.prisma, { actor: { kind: 'operator' }, now: () => new Date() })
    await database.prisma.organization.update({ where: { id: organization.id }, data: { tier: 'TEAM' } })
    return await transaction(operator, async (tx) => {
      const user = await insertUser(tx, 'MAILED_SIGN_UP_LINK', {
        email: 'owner@people.example',
        name: 'Owner',
        passwordHash: null,
      })
      await insertMembership(tx, { organizationId: organization.id, userId: user.id, role: 'OWNER' }, user.name)
      const operator = await insertUser(tx, 'SETUP', {
        ...{ email: 'operator@people.example', name: 'Operator', passwordHash: null, isOperator: true },
      })
      return {
        person: await startSession(tx, user.id, 'a browser'),
        operator: await startSession(tx, operator.id, 'a browser'),
      }
    })
  } finally {
    await database.close()
  }
}

function headersOf(caller: Caller): Readonly<Record<string, string>> {
  if (caller === 'stranger') return {}
  if (caller === 'person' || caller === 'operator')
    return { cookie: `__Host-allclear=${sessions[caller]}`, host: OWN_HOST }
  if (caller === 'token') return { authorization: `Bearer ${operatorToken}` }
  return { authorization: `Bearer ${keys[caller]}` }
}

/** Returns a page as a browser of a person gets it. */
async function read(path: string, reader: 'person' | 'operator'): Promise<string | null> {
  const { hostname, port } = new URL(program.url)
  return new Promise((resolve) => {
    const sent = request({ hostname, port, path, headers: { accept: 'text/html', ...headersOf(reader) } }, (answer) => {
      let html = ''
      answer.setEncoding('utf8').on('data', (piece: string) => (html += piece))
      const { location } = answer.headers
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(html)
        else resolve(location?.startsWith('/') && location !== path ? read(location, reader) : null)
      })
    })
    sent.on('error', () => resolve(null))
    sent.end()
  })
}

test('hostile inputs at every place delay nobody, break nothing and fill nothing', { timeout: 3_600_000 }, async () => {
  const { slug } = organization
  const starts = ['/', '/status', '/sign-in', '/pricing', '/console', `/console/${slug}`, `/status/${slug}`, '/setup']
  const crawled = await formPlaces([...starts, `/status/${slug}/subscribe`], (path) => read(path, 'person'))
  const operated = await formPlaces(['/console/operator/organizations'], (path) => read(path, 'operator'), [
    'operator',
    'person',
    'stranger',
    'ADMIN',
  ])
  const places = [
    ...[...crawled.places, ...operated.places, ...pathPlaces(organization, { integration })],
    ...[...graphqlPlaces(organization), ...socketPlaces(organization)],
  ]
  const cases = casesOf(places, choice)
  const outcome = await runCampaign(cases, choice, { program, headersOf })
  const { inputs, seconds, statuses, loggedBytes, grownBy, offences } = outcome
  process.stdout.write(
    `fuzz: seed ${choice.seed}, ${crawled.pages} pages, ${crawled.forms} forms, ${operated.pages} pages and ${operated.forms} forms of the operator, ${places.length} places, ${inputs} inputs in ${Math.round(seconds)} s; ` +
      `${loggedBytes} bytes of log, ${Math.round(grownBy / 2 ** 20)} MB grown; statuses ${JSON.stringify(statuses)}\n`,
  )
  if (isWhole) for (const { at, input, did } of offences) process.stdout.write(`${at} ${input} ${did}\n`)
  expect(crawled.forms).toBeGreaterThan(20)
  expect(operated.forms).toBeGreaterThan(5)
  expect(offences).toEqual([])
})
