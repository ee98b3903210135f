import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Issue } from '../../../src/core/errors.ts'
import { Invalid } from '../../../src/core/errors.ts'
import { createSecretBox } from '../../../src/core/secret-box.ts'
import type { Monitor } from '../../../src/generated/prisma/client.ts'
import type { Configuration, OptionsInput } from '../../../src/monitoring/monitor/options.ts'
import {
  changeOptions,
  openOptions,
  optionKeys,
  readOptions,
  redactOptions,
  sealOptions,
} from '../../../src/monitoring/monitor/options.ts'
import { kindRules } from '../../../src/monitoring/monitor/probe-kinds.ts'
import { closed, open } from '../../support/private-targets.ts'

const seal = createSecretBox(Buffer.alloc(32, 7))
const url = 'https://www.example.com/'

/** Returns the issues by path. */
function issues(work: () => unknown): Record<string, string> {
  try {
    work()
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    expect(error.code).toBe('INVALID_INPUT')
    return Object.fromEntries(error.issues.map(({ path, message }: Issue) => [path.join('.'), message]))
  }
  throw new Error('The input was accepted.')
}

/** Returns a row as the database returns it. */
function stored(configuration: Configuration, id = 'mon_1'): Pick<Monitor, 'id' | 'kind' | 'options'> {
  const options = JSON.parse(JSON.stringify(sealOptions(seal, id, configuration)))
  return { id, kind: configuration.kind, options }
}

const examples: Readonly<Record<string, OptionsInput>> = {
  HTTP: { http: { url, method: 'POST', headers: [{ name: 'Authorization', value: 'Bearer s3cret' }], body: 's3cret' } },
  TCP: { tcp: { host: 'mail.example.com', port: 993, tls: true, send: 'a LOGIN me s3cret\\r\\n', expect: 'a OK' } },
  DNS: { dns: { name: 'example.com', recordType: 'MX', expected: ['10 mail.example.com'], resolver: '8.8.8.8' } },
  PING: { ping: { host: '2001:4860:4860::8888' } },
  HEARTBEAT: { heartbeat: { graceSeconds: 600 } },
  BLACKLIST: { blacklist: { target: 'example.com', acknowledged: ['psbl'] } },
}

describe('an input', () => {
  test.each(Object.entries(examples))(
    'of kind %s can be validated, stored, decrypted and validated again',
    (kind, input) => {
      const read = readOptions(closed, input)
      expect(read.kind).toBe(kind)
      expect(openOptions(seal, stored(read))).toEqual(read)
      const again = { [Object.keys(input)[0] ?? '']: read.options }
      expect(readOptions(closed, again)).toEqual(read)
    },
  )

  test('has defaults for fields that are null or absent', () => {
    const { options } = readOptions(closed, { http: { url, method: null, body: undefined, keyword: null }, tcp: null })
    expect(options).toMatchObject({ url, method: 'GET', headers: [], expectedStatus: ['2xx'], maxRedirects: 5 })
    expect(Object.keys(options)).not.toContain('body')
    expect(readOptions(closed, { heartbeat: {} }).options).toEqual({ graceSeconds: 300 })
  })

  test.each<[OptionsInput, string]>([
    [{}, ''],
    [{ http: null }, ''],
    [{ http: { url }, ping: { host: 'example.com' } }, 'ping'],
  ])('must have exactly one kind, so %j is refused', (input, path) => {
    const message =
      'exactly one of http, tcp, dns, ping, heartbeat, blacklist, group, ssh, redis, postgresql, mysql, mqtt, websocket, grpc, domain, udp, mongodb must be given'
    expect(issues(() => readOptions(closed, input))).toEqual({ [path]: message })
  })

  test('is refused with the paths of all issues', () => {
    const http = {
      url: 'ftp://x',
      headers: [
        { name: 'A', value: 'b' },
        { name: 'a b', value: 'c\r\nd' },
      ],
      maxRedirects: 99,
    }
    const wrong = issues(() => readOptions(closed, { http }))
    expect(Object.keys(wrong)).toEqual(['http.url', 'http.headers.1.name', 'http.headers.1.value', 'http.maxRedirects'])
    expect(Object.keys(issues(() => readOptions(closed, { heartbeat: { graceSeconds: -1 } })))).toEqual([
      'heartbeat.graceSeconds',
    ])
    expect(Object.keys(issues(() => readOptions(closed, { ping: 'example.com' })))).toEqual(['ping'])
  })
})

describe('a target that only our own network can reach', () => {
  const inputs: readonly [OptionsInput, string][] = [
    [{ http: { url: 'http://127.0.0.1/' } }, 'http.url'],
    [{ http: { url: 'http://2130706433/' } }, 'http.url'],
    [{ http: { url: 'http://0x7f.1:8080/' } }, 'http.url'],
    [{ http: { url: 'http://[::ffff:10.0.0.1]/' } }, 'http.url'],
    [{ http: { url: 'http://LOCALHOST/' } }, 'http.url'],
    [{ http: { url: 'http://api.localhost./' } }, 'http.url'],
    [{ tcp: { host: '10.0.0.1', port: 22 } }, 'tcp.host'],
    [{ ping: { host: '[::1]' } }, 'ping.host'],
    [{ dns: { name: 'example.com', resolver: '192.168.1.1' } }, 'dns.resolver'],
    [{ dns: { name: 'db.internal' } }, 'dns.name'],
  ]
  test.each(inputs)('is refused in %j', (input, path) => {
    expect(Object.keys(issues(() => readOptions(closed, input)))).toEqual([path])
    expect(readOptions(open, input).kind).toBeDefined()
  })

  test('is refused if it is a cloud metadata address, regardless of the settings', () => {
    const input = { http: { url: 'http://169.254.169.254/latest/meta-data/' } }
    expect(Object.keys(issues(() => readOptions(open, input)))).toEqual(['http.url'])
  })
})

describe('a host', () => {
  const zeroWidth = 'must not contain the invisible character U+200B ZERO WIDTH SPACE'
  const long = `${'a'.repeat(64)}.example.com`
  const inputs: readonly [OptionsInput, string, string][] = [
    [{ http: { url: 'https://exam\u200bple.com/' } }, 'http.url', zeroWidth],
    [{ http: { url: 'https://user@exam\u200bple.com:8080?x' } }, 'http.url', zeroWidth],
    [{ http: { url: 'https://example.com\u202e/' } }, 'http.url', 'U+202E RIGHT-TO-LEFT OVERRIDE'],
    [{ http: { url: `https://${long}/` } }, 'http.url', 'a label has at most 63 characters'],
    [{ http: { url, proxy: { url: 'http://pro\u00adxy.example.com' } } }, 'http.proxy.url', 'U+00AD SOFT HYPHEN'],
    [{ tcp: { host: '\u200bexample.com', port: 22 } }, 'tcp.host', zeroWidth],
    [{ ping: { host: '192.0.2.7\u200b' } }, 'ping.host', zeroWidth],
    [{ ping: { host: 'a\u200d.com' } }, 'ping.host', 'U+200D ZERO WIDTH JOINER'],
    [{ dns: { name: 'exam\u2060ple.com' } }, 'dns.name', 'U+2060 WORD JOINER'],
    [{ dns: { name: long } }, 'dns.name', 'a label has at most 63 characters'],
    [{ dns: { name: `${'a.'.repeat(125)}example` } }, 'dns.name', 'a name has at most 253 characters'],
    [{ domain: { domain: 'exam\u200bple.com' } }, 'domain.domain', zeroWidth],
  ]
  test.each(inputs)(
    'that does not fit or has an invisible character is refused with the reason: %j',
    (input, path, why) => {
      expect(issues(() => readOptions(open, input))).toEqual({ [path]: expect.stringContaining(why) })
    },
  )

  test('may have letters of any script, and joiners where its script needs them', () => {
    expect(readOptions(closed, { ping: { host: 'bücher.example' } }).options).toMatchObject({
      host: 'xn--bcher-kva.example',
    })
    expect(readOptions(closed, { http: { url: `${url}a\u200bb` } }).kind).toBe('HTTP')
    expect(readOptions(closed, { ping: { host: 'نامه\u200cای.com' } }).options).toMatchObject({
      host: 'xn--mgba3gch31f060k.com',
    })
  })

  test.each([
    ['www.onion', 'Tor', false],
    ['a.invalid', 'never exist', false],
    ['a.alt', 'not in the DNS', false],
    ['printer.local', 'local network', true],
    ['nas.home.arpa', 'home network', true],
    ['a.test', 'tests', true],
  ])('of special use is refused with the reason: %s', (host, why, isLocal) => {
    const message = expect.stringContaining(why)
    for (const input of [{ ping: { host } }, { http: { url: `https://${host}/` } }, { tcp: { host, port: 22 } }]) {
      expect(Object.values(issues(() => readOptions(closed, input)))).toEqual([message])
      if (isLocal) expect(readOptions(open, input).kind).toBeDefined()
      else expect(Object.values(issues(() => readOptions(open, input)))).toEqual([message])
    }
    const proxied = { http: { url: `https://${host}/`, proxy: { url: 'socks5://proxy.example.com' } } }
    expect(readOptions(closed, proxied).kind).toBe('HTTP')
  })
})

describe('a secret', () => {
  const read = readOptions(closed, examples['HTTP'] ?? {})

  test.each(['HTTP', 'TCP'])(
    'of kind %s is stored encrypted, and can be decrypted only for its own monitor',
    (kind) => {
      const row = stored(readOptions(closed, examples[kind] ?? {}))
      expect(JSON.stringify(row)).not.toContain('s3cret')
      expect(() => openOptions(seal, { ...row, id: 'mon_2' })).toThrow()
      expect(() => openOptions(createSecretBox(Buffer.alloc(32, 8)), row)).toThrow()
    },
  )

  test('cannot replace another secret', () => {
    const row = stored(read)
    const options = row.options as { headers: { value: string }[]; body: string }
    const swapped = { ...options, body: options.headers[0]?.value ?? '' }
    expect(() => openOptions(seal, { ...row, options: swapped })).toThrow()
  })

  test('is not returned', () => {
    const shown = redactOptions(stored(read))
    expect(shown.options).toMatchObject({ url, method: 'POST', headers: [{ name: 'Authorization' }], hasBody: true })
    expect(JSON.stringify(shown)).not.toMatch(/s3cret|s1\./)
    expect(shown.options).not.toHaveProperty('body')
    expect(redactOptions(stored(readOptions(closed, { http: { url } }))).options).toMatchObject({ hasBody: false })
    const { options } = redactOptions(stored(readOptions(closed, examples['TCP'] ?? {})))
    expect(options).toMatchObject({ host: 'mail.example.com', hasSend: true, expect: 'a OK' })
    expect(JSON.stringify(options)).not.toMatch(/s3cret|s1\./)
    expect(options).not.toHaveProperty('send')
    const silent = redactOptions(stored(readOptions(closed, { tcp: { host: 'mail.example.com', port: 25 } })))
    expect(silent.options).toMatchObject({ hasSend: false })
  })

  test('can be as long as the longest header', () => {
    const headers = [{ name: 'X-Long', value: 'x'.repeat(4096) }]
    expect(redactOptions(stored(readOptions(closed, { http: { url, headers } }))).kind).toBe('HTTP')
  })
})

describe('a change', () => {
  const headers = [
    { name: 'Authorization', value: 'Bearer s3cret' },
    { name: 'X-Key', value: 'one' },
    { name: 'X-Key', value: 'two' },
  ]
  const before = readOptions(closed, { http: { url, method: 'POST', headers, body: 's3cret' } })
  const changed = (http: object) => changeOptions(closed, { http }, before).options

  test('without options keeps them', () => {
    expect(changeOptions(closed, { http: null }, before)).toEqual(before)
  })

  test('replaces all options', () => {
    const { options } = readOptions(closed, { http: { url: 'https://example.net/' } })
    expect(changed({ url: 'https://example.net/' })).toEqual(options)
  })

  test('keeps secrets that are null, including each header that is null', () => {
    const kept = [
      { name: 'x-key', value: null },
      { name: 'X-Key', value: null },
      { name: 'authorization', value: null },
    ]
    expect(changed({ url, method: 'POST', headers: kept, body: null })).toMatchObject({
      headers: [
        { name: 'x-key', value: 'one' },
        { name: 'X-Key', value: 'two' },
        { name: 'authorization', value: 'Bearer s3cret' },
      ],
      body: 's3cret',
    })
  })

  test('keeps the text to send over TCP if it is null, and removes it if it is absent', () => {
    const sending = readOptions(closed, examples['TCP'] ?? {})
    const host = { host: 'mail.example.com', port: 993, tls: true }
    const to = (tcp: object) => changeOptions(closed, { tcp: { ...host, ...tcp } }, sending).options
    expect(to({ send: null })).toMatchObject({ ...host, send: 'a LOGIN me s3cret\\r\\n' })
    expect(to({ send: 'b NOOP' })).toMatchObject({ send: 'b NOOP' })
    expect(to({})).not.toHaveProperty('send')
    expect(issues(() => to({ port: 25, send: null }))).toHaveProperty(['tcp.send'])
  })

  const again = 'must be sent again: a secret is kept only while the scheme, host, port and proxy stay the same'

  test.each([
    'https://evil.example.net/health',
    'https://api.www.example.com/health',
    'https://www.example.com:8443/health',
    'http://www.example.com/health',
    'https://8.8.8.8/health',
  ])('to %s removes the secrets of HTTP', (elsewhere) => {
    const [, ...others] = headers.map(({ name }) => ({ name, value: null }))
    const http = { url: elsewhere, method: 'POST', headers: [headers[0], ...others], body: null }
    expect(issues(() => changed(http))).toEqual({
      'http.headers.1.value': again,
      'http.headers.2.value': again,
      'http.body': again,
    })
    expect(changed({ ...http, headers, body: 'other' })).toMatchObject({ url: elsewhere, headers, body: 'other' })
    expect(changed({ url: elsewhere })).toMatchObject({ url: elsewhere, headers: [] })
  })

  test.each(['https://WWW.example.com:443/other?path', 'https://www.example.com/'])(
    'to %s, which has the same origin, keeps secrets',
    (same) => {
      expect(changed({ url: same, method: 'POST', body: null })).toMatchObject({ body: 's3cret' })
    },
  )

  test.each([{ host: 'evil.example.net' }, { port: 144 }, { tls: true }])(
    'to %j removes the secrets of TCP',
    (other) => {
      const tcp = { host: 'mail.example.com', port: 143, ...other }
      const sending = readOptions(closed, { tcp: { host: 'mail.example.com', port: 143, send: 's3cret' } })
      expect(issues(() => changeOptions(closed, { tcp: { ...tcp, send: null } }, sending))).toEqual({
        'tcp.send': again,
      })
      expect(changeOptions(closed, { tcp }, sending).options).not.toHaveProperty('send')
      const silent = readOptions(closed, { tcp: { host: 'mail.example.com', port: 143 } })
      expect(changeOptions(closed, { tcp: { ...tcp, send: null } }, silent).options).toMatchObject(other)
    },
  )

  test('with the same options changes nothing', () => {
    const same = { url, method: 'POST', headers: headers.map(({ name }) => ({ name, value: null })), body: null }
    expect(changeOptions(closed, { http: same }, before)).toStrictEqual(before)
    const bare = readOptions(closed, { http: { url } })
    expect(changeOptions(closed, { http: { url, body: null } }, bare)).toStrictEqual(bare)
  })

  test('cannot keep a secret that did not exist', () => {
    const http = { url, headers: [{ name: 'X-New', value: null }] }
    const missing = { 'http.headers.0.value': 'is required' }
    expect(issues(() => changeOptions(closed, { http }, before))).toEqual(missing)
    expect(issues(() => readOptions(closed, { http }))).toEqual(missing)
    for (const broken of [[null], ['X-Key'], [{ value: null }], 'X-Key', 7]) {
      expect(() => changeOptions(closed, { http: { url, headers: broken } }, before)).toThrow(Invalid)
    }
  })

  test('has our own error messages, for every option of every kind', () => {
    const wrong = [{}, [], -1, 1.5, 1e9, true, '', 'x'.repeat(10_000), '\n', [{}], { q: 1 }]
    const messages = Object.entries(optionKeys).flatMap(([key, kind]) => {
      const { properties = {} } = z.toJSONSchema(kindRules[kind].options, { io: 'input', unrepresentable: 'any' })
      return ['q', ...Object.keys(properties)].flatMap((option) =>
        wrong.flatMap((value) =>
          Object.values(issues(() => readOptions(closed, { [key]: { [option]: value, q: 1 } }))),
        ),
      )
    })
    expect(messages.length).toBeGreaterThan(1000)
    expect(
      messages.filter((message) => /expected|invalid (input|option)|unrecognized|too (small|big)/i.test(message)),
    ).toEqual([])
  })

  test('cannot change the kind', () => {
    expect(issues(() => changeOptions(closed, { ping: { host: 'example.com' } }, before))).toEqual({
      ping: 'must not be given: this monitor is of kind HTTP, and the kind cannot change',
    })
  })

  test('has the same restrictions on targets as a new monitor', () => {
    expect(Object.keys(issues(() => changed({ url: 'http://10.0.0.1/' })))).toEqual(['http.url'])
  })
})
