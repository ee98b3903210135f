// @slow
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { buildSchema, getOperationAST, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { schemaTypes } from '../../src/app/schema-types.ts'
import { fileShape } from '../../src/configuration/format.ts'
import { readYaml } from '../../src/configuration/yaml-text.ts'
import { readConfig, settingNames } from '../../src/core/config.ts'
import { HOUR } from '../../src/core/time.ts'
import { findingCodes } from '../../src/diagnosis/finding.ts'
import { testApp } from '../support/app.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { filledOrganization, mutate, succeed } from '../support/filled-organization.ts'
import { freePort } from '../support/free-port.ts'
import { post, type Result, websocketClient } from '../support/graphql-client.ts'
import { documentation, examples } from '../support/guides.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { operatorToken } from '../support/service-data.ts'

const run = promisify(execFile)

/** Commands that send nothing to a running service: their beginnings, and what covers them instead. */
const elsewhere: readonly RegExp[] = [
  // .ci/run, and test/demo/organization.test.ts.
  /^npm install && npm (start|test)$/,
  /^npm run demo$/,
  // test/package.
  /^npx allclear$/,
  // Sets variables for the other examples.
  /^export /,
  // A test below reads its settings.
  /npm start$/,
  // Other programs.
  /^stripe listen /,
  /^(docker|helm) /,
  /^npm install --global allclear\n/,
  // test/cli.
  /^allclear (import|incident|plan) /,
  /^source <\(allclear completion /,
  /^ALLCLEAR_KEY=\S+ allclear doctor /,
  // test/backup.
  /^allclear (backup|restore|move) /,
]

const all = examples()
const commands = all.filter(({ language }) => language === 'sh')
const sent = commands.filter(({ code }) => !elsewhere.some((pattern) => pattern.test(code.trim())))
const operations = all.filter(({ language }) => language === 'graphql')

const dns = await startDnsServer(scriptedLists({ 'example.com': ['203.0.113.7'] }))
const port = await freePort()
const url = `http://127.0.0.1:${port}`
await testApp({
  dns,
  settings: {
    PORT: String(port),
    BASE_URL: 'https://checks.example',
    DEFAULT_TIER: 'team',
    SMTP_URL: 'smtp://127.0.0.1:9',
    STRIPE_WEBHOOK_SECRET: 'whsec_test1234',
  },
})
const later = (hours: number) => new Date(Date.now() + hours * HOUR)
const { id, slug, key, ids, heartbeatId } = await filledOrganization(url, { startsAt: later(1), endsAt: later(2) })
await mutate(url, operatorToken, 'setCheckPlan', 'Organization', { organizationId: id, plan: 'PRO' })
const heartbeatUrl = await readHeartbeatUrl()

/** The values of the examples' variables. */
const values: Readonly<Record<string, unknown>> = {
  serviceId: ids.Service,
  groupId: ids.ServiceGroup,
  incidentId: ids.Incident,
  monitorId: heartbeatId,
  organizationId: id,
  pageId: id,
  slug,
  webhook: 'https://hooks.example.com/status',
  startsAt: later(3),
  endsAt: later(4),
  // The file from the guide.
  yaml: all.find(({ language }) => language === 'yaml')?.code,
}

async function readHeartbeatUrl(): Promise<string> {
  const query = 'query ($id: ID!) { node(id: $id) { ... on Monitor { options { ... on HeartbeatOptions { url } } } } }'
  const { options } = await succeed<{ options: { url: string } }>(url, key, query, { id: heartbeatId })
  return url + new URL(options.url).pathname
}

/** The first result of a subscription, during changes that it may be about. */
async function firstResult(query: string, variables: Record<string, unknown>): Promise<Result> {
  const client = websocketClient(url, { apiKey: key })
  const results = client.iterate({ query, variables })
  const first = results.next()
  let arrived = false
  void first.then(() => {
    arrived = true
  })
  const happen = async () => {
    await fetch(heartbeatUrl)
    const message = 'We are still looking.'
    await mutate(url, key, 'postIncidentUpdate', 'IncidentUpdate', {
      incidentId: ids.Incident,
      status: 'MONITORING',
      message,
    })
  }
  await expect.poll(() => happen().then(() => arrived), { interval: 200 }).toBe(true)
  const { value } = await first
  await results.return?.()
  await client.dispose()
  return value as Result
}

/** An expected failure in an answer, or a top-level error. */
const failure = /"(errors|error)":\s*[[{]|"code":\s*"[A-Z]/

describe('every example works', () => {
  // Before the operations, one of which closes the page to visitors.
  test.each(sent)('$place', async ({ code }) => {
    expect(code).toMatch(/^(echo .* \| )?(curl|node) /m)
    const command = code
      .replaceAll('localhost:4000', `127.0.0.1:${port}`)
      .replaceAll('/status/example', `/status/${slug}`)
    const env = {
      ...process.env,
      KEY: key,
      OPERATOR: operatorToken,
      ORGANIZATION: id,
      INCIDENT: ids.Incident,
      HEARTBEAT_URL: heartbeatUrl,
    }
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', command], { env })
    expect(stdout).not.toBe('')
    expect(stdout).not.toMatch(failure)
  })

  test.each(operations)('$place', async ({ code }) => {
    const document = parse(code)
    const operation = getOperationAST(document)
    expect(operation, 'one operation').not.toBeNull()
    const names = (operation?.variableDefinitions ?? []).map(({ variable }) => variable.name.value)
    const unknown = names.filter((name) => name !== 'after' && !(name in values))
    expect(unknown, 'variables that this test has no value for').toEqual([])
    const variables = Object.fromEntries(names.filter((name) => name in values).map((name) => [name, values[name]]))
    const result =
      operation?.operation === 'subscription'
        ? await firstResult(code, variables)
        : await post(url, { query: code, variables, key: code.startsWith('# operator') ? operatorToken : key })
    expect(result.data).toBeTruthy()
    expect(JSON.stringify(result)).not.toMatch(failure)
  })

  test('there are examples of each kind', () => {
    expect(operations.length).toBeGreaterThan(15)
    expect(sent.length).toBeGreaterThan(8)
    for (const { place, language } of all)
      expect(['sh', 'graphql', 'ts', 'text', 'nginx', 'html', 'yaml'], place).toContain(language)
  })

  test('every exception matches an existing command', () => {
    const unused = elsewhere.filter((pattern) => !commands.some(({ code }) => pattern.test(code.trim())))
    expect(unused).toEqual([])
  })

  test('settings in commands exist and have valid values', () => {
    for (const { place, code } of commands.filter(({ code }) => /npm start\s*$/.test(code))) {
      const given = [...code.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value] as const)
      for (const [name] of given) expect(settingNames, place).toContain(name)
      const whole = given.filter(([, value]) => !value.includes('…'))
      expect(() => readConfig(Object.fromEntries(whole)), place).not.toThrow()
    }
  })
})

test('the examples in TypeScript compile against the types of the client library', async () => {
  const programs = all.filter(({ language }) => language === 'ts')
  expect(programs.length).toBeGreaterThan(0)
  const directory = await mkdtemp(join(tmpdir(), 'allclear-examples-'))
  try {
    const types = schemaTypes(buildSchema(await readFile('schema.graphql', 'utf8')))
    await writeFile(join(directory, 'schema.d.ts'), types)
    for (const [index, { code }] of programs.entries()) await writeFile(join(directory, `example-${index}.mts`), code)
    const paths = { 'allclear/client': [resolve('src/client/index.ts')], 'allclear/schema': ['./schema.d.ts'] }
    const compilerOptions = {
      noEmit: true,
      incremental: false,
      // Readers may compile with fewer rules than we do.
      noPropertyAccessFromIndexSignature: false,
      noUnusedLocals: false,
      paths,
      typeRoots: [resolve('node_modules/@types')],
    }
    const config = { extends: resolve('tsconfig.json'), compilerOptions, include: ['*.mts'], exclude: [] }
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config))
    const { stdout } = await run(resolve('node_modules/.bin/tsc'), ['-p', directory]).catch((error) => error)
    expect(stdout).toBe('')
  } finally {
    await rm(directory, { recursive: true })
  }
})

test.each(all.filter(({ language }) => language === 'yaml'))('$place is valid YAML', ({ code }) => {
  const text = readYaml(code)
  if (!('value' in text)) throw new Error(JSON.stringify(text))
  if (/^allclear: /m.test(code)) fileShape.parse(text.value)
})

test('every file named in the guides exists', () => {
  for (const [file, text] of documentation()) {
    if (file === 'CHANGELOG.md') continue
    for (const [, path = ''] of text.matchAll(/`((?:[\w-]+\/)+[\w-]+\.tsx?)`/g)) {
      expect(existsSync(path) || existsSync(`src/${path}`), `${file}: ${path}`).toBe(true)
    }
  }
})

describe('every name in the guides exists', async () => {
  const schema = await readFile('schema.graphql', 'utf8')
  const guides = [...documentation()].filter(([file]) => file !== 'CHANGELOG.md')
  /** Names of other protocols, and of rules that are not in an enum. */
  const others = new Set<string>([
    ...findingCodes,
    'connectionParams',
    'errorId',
    'errorIds',
    'testConformance',
    'OPERATION_TOO_LARGE',
    'GRAPHQL_PARSE_FAILED',
    'PERSISTED_QUERY_NOT_FOUND',
    'GRAPHQL_VALIDATION_FAILED',
    'BAD_USER_INPUT',
    'TEST_DATABASE_URL',
    'THOROUGH_TESTS',
    'FUZZ_INPUTS',
    'FUZZ_SEED',
    'SAMPLE_SEED',
    'builderFor',
    'notOwnedBy',
    'cappedText',
    'trimmedText',
    'devDependencies',
    'API_KEY_REQUIRED',
    'SIGTERM',
    'SIGINT',
    'MALLOC_ARENA_MAX',
    'MALLOC_MMAP_THRESHOLD_',
    'MALLOC_TRIM_THRESHOLD_',
    'POSTGRES_PASSWORD',
    'ALLCLEAR_URL',
    'ALLCLEAR_KEY',
    'ALLCLEAR_PROFILE',
    'ALLCLEAR_BACKUP_PASSPHRASE',
    'NO_COLOR',
    'OTEL_RESOURCE_ATTRIBUTES',
    'OTEL_TRACES_SAMPLER',
    'OTEL_TRACES_SAMPLER_ARG',
    'OTEL_BSP_SCHEDULE_DELAY',
    'OTEL_BSP_MAX_QUEUE_SIZE',
    'OTEL_EXPORTER_OTLP_TIMEOUT',
    'OTEL_EXPORTER_OTLP_COMPRESSION',
    'statusPageEvents',
    'existingSecret',
    'databaseServer',
    'stopForUpgrade',
  ])

  test.each(guides)('%s', (_, text) => {
    const names = [...text.matchAll(/`([a-z]+[A-Z]\w*|[A-Z]+_[A-Z_]+)(?=[`(=])/g)].map(([, name = '']) => name)
    const missing = names.filter(
      (name) =>
        !others.has(name) && !settingNames.some((each) => each === name) && !new RegExp(`\\b${name}\\b`).test(schema),
    )
    expect(missing).toEqual([])
  })
})
