// @slow
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { atTheEnd } from './support/at-the-end.ts'
import { serverUrl } from './support/database.ts'
import { startDatabaseProxy } from './support/database-proxy.ts'
import { createGate, startDnsServer } from './support/dns-server.ts'
import { freePort } from './support/free-port.ts'
import { post, websocketClient } from './support/graphql-client.ts'
import { type ServiceProcess, startService } from './support/process.ts'
import { scriptedLists } from './support/scripted-lists.ts'
import { testData } from './support/service-data.ts'

const healthy = scriptedLists()
const gate = createGate()
const dns = await startDnsServer(async (query) => {
  if (query.name.startsWith('9.113.0.203.')) await gate.opened
  return healthy(query)
})
const started: ServiceProcess[] = []
afterAll(async () => {
  for (const service of started) service.signal('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
})

function start(settings: NodeJS.ProcessEnv) {
  const service = startService(dns, settings)
  started.push(service)
  return service
}

async function ownData(): Promise<NodeJS.ProcessEnv> {
  const data = await testData()
  atTheEnd(data.remove)
  return { DATA_DIR: data.dataDir, ...data.settings }
}

describe('the service as a process', () => {
  test('renders guides and answers introspection in worker threads', async () => {
    const service = start(await ownData())
    const url = await service.ready()
    expect((await fetch(`${url}/docs/getting-started`)).status).toBe(200)
    expect(await post(url, { query: '{ __schema { queryType { name } } }' })).toMatchObject({
      data: { __schema: { queryType: { name: 'Query' } } },
    })
    service.signal('SIGTERM')
    await service.ended
  })

  test('prints the operator’s token only at its first start, finishes running requests on repeated SIGTERM and exits with 0', async () => {
    const data = await ownData()
    const first = start({ ...data, ADMIN_TOKEN: '' })
    const url = await first.ready()
    await first.wrote('op_')
    const token = /op_[0-9a-v]{40}/.exec(first.output())?.[0] ?? ''
    const query =
      'mutation { createOrganization(input: { name: "A", slug: "aa", contactEmail: "a@b.example" }) { __typename } }'
    expect(await post(url, { query, key: token })).toMatchObject({
      data: { createOrganization: { __typename: 'CreateOrganizationPayload' } },
    })

    const client = websocketClient(url, undefined, false)
    const websocketClosed = new Promise<unknown>((resolve) => client.on('closed', resolve))
    await new Promise((resolve) => client.on('connected', resolve))
    const before = dns.queries.length
    const check = fetch(`${url}/api/blacklist-monitor/ip?target=203.0.113.9`)
    await dns.seen(before + 6)
    first.signal('SIGTERM')
    expect(await websocketClosed).toMatchObject({ code: 1001 })
    first.signal('SIGTERM')
    first.signal('SIGINT')
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
    gate.open()
    expect(await (await check).json()).toMatchObject({ target: '203.0.113.9', failed_count: 0 })
    expect(await first.ended).toEqual({ code: 0, signal: null })
    await client.dispose()

    const second = start({ ...data, ADMIN_TOKEN: '' })
    expect(await post(await second.ready(), { query, key: token })).toMatchObject({
      data: { createOrganization: { __typename: 'ConflictError' } },
    })
    expect(second.output()).not.toContain('op_')
    second.signal('SIGINT')
    expect(await second.ended).toEqual({ code: 0, signal: null })
  })

  test('stops in order on a signal during its start', async () => {
    const service = start(await ownData())
    await service.wrote('blacklist: querying')
    service.signal('SIGTERM')
    expect(await service.ended).toEqual({ code: 0, signal: null })
    expect(service.output()).toContain('app: stopped')
  })

  test.runIf(serverUrl)(
    'counts exactly with another process on the same server, and a key revoked in one is invalid in the other',
    async () => {
      const data = await ownData()
      const services = [start({ ...data, ADMIN_TOKEN: '' }), start({ ...data, ADMIN_TOKEN: '' })]
      const [one = '', other = ''] = await Promise.all(services.map((service) => service.ready()))
      // Both have answered once by now, so their output is complete.
      await Promise.all([one, other].map((url) => fetch(`${url}/readyz`)))
      const tokens = services.flatMap((service) => service.output().match(/op_[0-9a-v]{40}/g) ?? [])
      expect(tokens).toHaveLength(1)

      const spend = (url: string) => fetch(`${url}/api/blacklist-monitor/ip?target=203.0.113.1`)
      const answers = await Promise.all(Array.from({ length: 250 }, (_, index) => spend(index % 2 ? one : other)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(100)

      const make =
        'mutation { createOrganization(input: { name: "A", slug: "aa", contactEmail: "a@b.example" }) { ... on CreateOrganizationPayload { apiKey { id secret } } } }'
      const { data: made } = await post(one, { query: make, key: tokens[0] })
      const { id, secret } = ((made?.['createOrganization'] ?? {}) as { apiKey: { id: string; secret: string } }).apiKey
      const look = { query: '{ organization { id } }', key: secret }
      expect((await post(other, look)).status).toBe(200)
      await post(one, {
        query: 'mutation ($id: ID!) { revokeApiKey(input: { id: $id, force: true }) { __typename } }',
        variables: { id },
        key: secret,
      })
      expect((await post(other, look)).status).toBe(401)
    },
  )
})

describe.skipIf(serverUrl === undefined)('a process with a silent database', () => {
  async function silenced() {
    const data = await ownData()
    const proxy = await startDatabaseProxy(String(data['DATABASE_URL']))
    atTheEnd(proxy.close)
    const service = start({ ...data, DATABASE_URL: proxy.url })
    await service.ready()
    proxy.stall()
    return service
  }

  test('stops within ten seconds and reports what was cut', async () => {
    const service = await silenced()
    service.signal('SIGTERM')
    expect(await service.ended).toEqual({ code: 1, signal: null })
    expect(service.output()).toMatch(/stopped, but these did not finish: |did not stop in time/)
  })

  test('exits immediately on a second signal', async () => {
    const service = await silenced()
    service.signal('SIGTERM')
    await service.wrote('SIGTERM, stopping')
    await sleep(1200)
    service.signal('SIGTERM')
    expect(await service.ended).toEqual({ code: 1, signal: null })
    expect(service.output()).toContain('second SIGTERM, exiting immediately')
  })
})

describe('a failed start exits with 1 and a clear message', () => {
  /** The output of a service that does not start. */
  async function refusal(settings: NodeJS.ProcessEnv) {
    const service = start(settings)
    expect(await service.ended).toEqual({ code: 1, signal: null })
    expect(service.output()).not.toMatch(/\n\s+at /)
    return service.output()
  }

  test('reports all invalid settings without secrets', async () => {
    const said = await refusal({
      PORT: 'eighty',
      SIGNUP: 'maybe',
      ADMIN_TOKEN: 'hush',
      DATABASE_URL: 'mysql://me:hush@db/x',
    })
    expect(said).toContain('PORT is "eighty", but must be a whole number from 0 to 65535.')
    expect(said).toContain('SIGNUP is "maybe", but must be one of closed, open.')
    expect(said).toContain('ADMIN_TOKEN')
    expect(said).toContain('DATABASE_URL')
    expect(said).not.toContain('hush')
  })

  test('a port in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    expect(await refusal({ ...(await ownData()), PORT: String(port) })).toContain(
      `Cannot listen on port ${port} of 127.0.0.1`,
    )
    taken.close()
  })

  test('an unreachable database server, without its password', async () => {
    const port = await freePort()
    const said = await refusal({ DATABASE_URL: `postgresql://me:hush@127.0.0.1:${port}/allclear` })
    expect(said).toContain(`Could not connect to the database allclear at 127.0.0.1:${port}`)
    expect(said).not.toContain('hush')
  })

  test.skipIf(serverUrl)('a DATA_DIR in use by another process', async () => {
    const data = await ownData()
    const first = start(data)
    await first.ready()
    expect(await refusal(data)).toMatch(new RegExp(`${data['DATA_DIR']} is in use by process ${first.pid}`))
    first.signal('SIGTERM')
    expect(await first.ended).toEqual({ code: 0, signal: null })
  })

  test('a DATA_DIR that cannot be created', async () => {
    expect(await refusal({ DATA_DIR: '/dev/null/data' })).toContain(
      'Could not open the embedded database in /dev/null/data',
    )
  })
})
