import { describe, expect, test } from 'vitest'
import { Invalid } from '../../../src/core/errors.ts'
import type { Configuration, OptionsInput } from '../../../src/monitoring/monitor/options.ts'
import { readOptions } from '../../../src/monitoring/monitor/options.ts'
import { type ProbedKind, probes } from '../../../src/monitoring/monitor/probe-kinds.ts'
import { runProbe } from '../../../src/monitoring/monitor/run-probe.ts'
import { wireIssues } from '../../../src/monitoring/monitor/wire-issues.ts'
import { open } from '../../support/private-targets.ts'
import { runWith, startTools } from '../probe/run.ts'

const host = '127.0.0.1'

/** An input of each kind that connects somewhere, with all its texts. */
const inputs: Readonly<Record<string, OptionsInput>> = {
  HTTP: {
    http: {
      url: 'http://127.0.0.1/',
      headers: [{ name: 'x-a', value: 'b' }],
      oauth: { tokenUrl: 'http://127.0.0.1/', clientId: 'a', clientSecret: 'b', scope: 'c', audience: 'd' },
      proxy: { url: 'http://127.0.0.1:3128', username: 'a', password: 'b' },
    },
  },
  TCP: { tcp: { host, port: 80 } },
  UDP: { udp: { host, port: 80, send: 'x' } },
  DNS: { dns: { name: 'example.com', recordType: 'TXT', expected: ['a'], resolver: 'tls://127.0.0.1:8853' } },
  PING: { ping: { host } },
  SSH: { ssh: { host } },
  REDIS: { redis: { host, username: 'a', password: 'b', command: 'LLEN "c d"' } },
  POSTGRESQL: { postgresql: { host, user: 'a', password: 'b', database: 'c' } },
  MYSQL: { mysql: { host, user: 'a', password: 'b', database: 'c' } },
  MONGODB: { mongodb: { host, user: 'a', password: 'b', authDatabase: 'c', database: 'd', command: '{"ping": 1}' } },
  MQTT: { mqtt: { host, username: 'a', password: 'b', topic: 'c' } },
  WEBSOCKET: { websocket: { host, path: '/', subprotocol: 'a' } },
  GRPC: { grpc: { host, service: 'a' } },
}

/** Texts that may have line breaks, because they are content or are never sent. */
const free: Readonly<Record<string, object>> = {
  HTTP: { body: 'a\r\nb', keyword: { text: 'a\nb' } },
  TCP: { send: 'a\r\nb', expect: 'a\nb' },
  UDP: { send: 'a\r\nb', expect: 'a\nb' },
  POSTGRESQL: { query: 'SELECT\n1' },
  MYSQL: { query: 'SELECT\n1' },
  MQTT: { expect: 'a\nb' },
  WEBSOCKET: { send: 'a\nb', expect: 'a\nb' },
}

/** Returns the paths of all texts in a value. */
function textPaths(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value === 'string') return [[...path]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => textPaths(each, [...path, name]))
}

/** Returns a copy with a text at a path replaced. */
function replaced(value: unknown, [name, ...rest]: readonly string[], text: string): unknown {
  if (name === undefined) return text
  const copy: unknown = Array.isArray(value) ? [...value] : { ...(value as object) }
  const members = copy as Record<string, unknown>
  members[name] = replaced(members[name], rest, text)
  return copy
}

const isFree = (kind: string, path: readonly string[]) => path[0] !== undefined && path[0] in (free[kind] ?? {})

/** Every text of every kind. */
const texts = Object.entries(inputs).flatMap(([kind, input]) => {
  const { options } = readOptions(open, input)
  const sent = textPaths(options).filter((path) => !isFree(kind, path))
  return sent.map((path) => [kind, path.join('.'), options, path] as const)
})

describe('a text with a control character', () => {
  test.each(texts)('%s: %s is not sent, even if it is stored', (kind, _, options, path) => {
    // The URL of a target must stay one.
    const isUrl = /url$/i.test(path.at(-1) ?? '') || path[0] === 'resolver'
    for (const character of isUrl ? [] : ['\r\n', '\n', '\r', '\0', '\x1b', '\x7f']) {
      const text =
        kind === 'MONGODB' && path[0] === 'command' ? JSON.stringify({ ping: `a${character}b` }) : `a${character}b`
      const changed = { kind, options: replaced(options, path, text) } as Configuration
      expect(wireIssues(changed).map((issue) => issue.path.join('.'))).toContainEqual(
        expect.stringMatching(new RegExp(`^${path[0]}`)),
      )
    }
  })

  test.each([
    ['REDIS', { redis: { host, port: 6379, command: '"MAIL FROM:<a@b>\r\nRCPT TO:<c@d>"' } }],
    ['MQTT', { mqtt: { host, username: 'a', password: '\r\nMAIL FROM:<a@b>\r\n' } }],
    ['POSTGRESQL', { postgresql: { host, database: 'a\r\nMAIL FROM:<a@b>\r\nb' } }],
    ['MONGODB', { mongodb: { host, command: '{"ping": "\\r\\nMAIL FROM:<a@b>\\r\\n"}' } }],
    ['MONGODB', { mongodb: { host, command: '{"a\\nb": 1}' } }],
  ])('is refused in an input of kind %s', (_, input) => {
    expect(() => readOptions(open, input)).toThrow(Invalid)
  })

  test.each(Object.entries(free))('%s: is allowed in content', (kind, more) => {
    const [[key = '', given] = []] = Object.entries(inputs[kind] ?? {})
    const method = kind === 'HTTP' ? { method: 'POST' } : {}
    const topic = { [key]: { ...(given as object), ...method, ...more } }
    expect(wireIssues(readOptions(open, topic))).toEqual([])
  })
})

const applications = ['REDIS', 'POSTGRESQL', 'MYSQL', 'MONGODB', 'MQTT', 'WEBSOCKET', 'GRPC', 'HTTP'] as const

/** Returns stored options of a kind whose target has a port. */
function atPort(kind: string, port: number, more: object = {}): Configuration {
  const { options } = readOptions(open, kind === 'HTTP' ? { http: { url: 'http://127.0.0.1/' } } : (inputs[kind] ?? {}))
  const place = kind === 'HTTP' ? { url: `http://127.0.0.1:${port}/` } : { port }
  return { kind, options: { ...options, ...place, ...more } } as Configuration
}

describe('a port', () => {
  test.each(applications)('of mail or of another line-based protocol is not for %s', async (kind) => {
    const { tools } = await startTools()
    for (const port of [25, 465, 587, 2525, 110, 6667]) {
      const configuration = atPort(kind, port)
      expect(wireIssues(configuration)).toMatchObject([{ path: [kind === 'HTTP' ? 'url' : 'port'] }])
      const result = await runProbe(kind as ProbedKind, configuration.options as never, runWith(tools))
      expect(result).toMatchObject({ outcome: 'UNKNOWN', message: expect.stringContaining(`port ${port}`) })
    }
  })

  test.each(applications)('is checked again where %s connects', async (kind) => {
    const { tools } = await startTools()
    const { options } = atPort(kind, 25)
    const probe = probes[kind] as { run(options: unknown, run: unknown): Promise<unknown> }
    expect(await probe.run(options, runWith(tools))).toMatchObject({
      outcome: 'UNKNOWN',
      message: expect.stringContaining('port 25, which is for mail'),
    })
  })

  test('of mail is for TCP monitors that send nothing, and may start TLS', () => {
    for (const port of [25, 465, 587, 2525]) {
      expect(wireIssues(atPort('TCP', port))).toEqual([])
      expect(wireIssues(atPort('TCP', port, { startTls: 'SMTP' }))).toEqual([])
      expect(wireIssues(atPort('TCP', port, { send: 'EHLO me' }))).toMatchObject([{ path: ['port'] }])
      expect(wireIssues(atPort('UDP', port))).toMatchObject([{ path: ['port'] }])
    }
    expect(wireIssues(atPort('TCP', 143, { send: 'a NOOP' }))).toEqual([])
    expect(wireIssues(atPort('SSH', 22))).toEqual([])
  })

  test('of mail is no proxy and no encrypted resolver', () => {
    const proxy = { url: 'http://127.0.0.1:587' }
    expect(wireIssues(atPort('HTTP', 80, { proxy }))).toMatchObject([{ path: ['proxy', 'url'] }])
    const { options } = readOptions(open, inputs['DNS'] ?? {})
    const resolver = { kind: 'DNS', options: { ...options, resolver: 'tls://127.0.0.1:465' } } as Configuration
    expect(wireIssues(resolver)).toMatchObject([{ path: ['resolver'] }])
  })
})
