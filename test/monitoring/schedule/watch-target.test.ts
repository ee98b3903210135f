import { expect, test } from 'vitest'
import { Invalid } from '../../../src/core/errors.ts'
import { parseWatchTarget } from '../../../src/monitoring/schedule/watch-target.ts'

test.each([
  ['example.com', 'example.com', { http: { url: 'https://example.com' } }],
  [' https://example.com/login?a=b ', 'example.com', { http: { url: 'https://example.com/login?a=b' } }],
  ['HTTP://EXAMPLE.com', 'example.com', { http: { url: 'HTTP://EXAMPLE.com' } }],
  ['example.com:8443', 'example.com:8443', { http: { url: 'https://example.com:8443' } }],
  ['http://localhost:3000/health', 'localhost:3000', { http: { url: 'http://localhost:3000/health' } }],
  ['mail.example.com:25', 'mail.example.com:25', { tcp: { host: 'mail.example.com', port: 25 } }],
  ['tcp://db.example.com:5432', 'db.example.com:5432', { tcp: { host: 'db.example.com', port: 5432 } }],
  ['example.com:80', 'example.com', { http: { url: 'http://example.com:80' } }],
  ['192.0.2.1', '192.0.2.1', { http: { url: 'https://192.0.2.1' } }],
  ['2001:db8::1', '[2001:db8::1]', { http: { url: 'https://[2001:db8::1]' } }],
  ['bücher.example/a', 'xn--bcher-kva.example', { http: { url: 'https://bücher.example/a' } }],
  ['smtp://mail.example.com', 'mail.example.com', { tcp: { host: 'mail.example.com', port: 25 } }],
  ['imaps://mail.example.com', 'mail.example.com', { tcp: { host: 'mail.example.com', port: 993, tls: true } }],
  ['redis://cache.example.com', 'cache.example.com', { redis: { host: 'cache.example.com', port: 6379 } }],
  ['postgres://db.example.com/app', 'db.example.com', { postgresql: { host: 'db.example.com', port: 5432 } }],
  ['mysql://[2001:db8::1]:3307', '[2001:db8::1]:3307', { mysql: { host: '2001:db8::1', port: 3307 } }],
  ['ws://example.com/live', 'example.com', { websocket: { host: 'example.com', port: 80, tls: false, path: '/live' } }],
  ['wss://example.com', 'example.com', { websocket: { host: 'example.com', port: 443, tls: true } }],
  ['dns://example.com', 'example.com', { dns: { name: 'example.com' } }],
  ['ping://192.0.2.1', '192.0.2.1', { ping: { host: '192.0.2.1' } }],
  ['[2001:db8::1]:22', '[2001:db8::1]:22', { tcp: { host: '2001:db8::1', port: 22 } }],
])('%s becomes the monitor %s', (text, name, options) => {
  expect(parseWatchTarget(text, 'target')).toEqual({ name, options })
})

test('a port without a usual use may be a website, or a connection', () => {
  expect(parseWatchTarget('localhost:4861', 'target')).toEqual({
    ...{ name: 'localhost:4861', options: { tcp: { host: 'localhost', port: 4861 } } },
    orWebsite: 'http://localhost:4861',
  })
})

test.each([
  ['ftp://x/', 'begins with ftp://, which cannot be monitored'],
  ['file:///etc/passwd', 'begins with file://, which cannot be monitored'],
  ['constructor://x', 'begins with constructor://, which cannot be monitored'],
  ['tcp://db.example.com', 'must have a port'],
  ['tcp://db.example.com:5432/app', 'must end after the port'],
  ['redis://user:secret@cache.example.com', 'must not contain a user or a password'],
  ['https://user:secret@example.com/', 'must not contain a user or a password'],
  ['ada@example.com', 'is an email address'],
  ['example.com:99999', 'must have a port from 1 to 65535'],
  ['example.com:0', 'must have a port from 1 to 65535'],
  ['ping://example.com:7', 'must not have a port'],
  ['two words', 'must be one address, without spaces'],
  ['https:///example.com', 'must be the address of a website, or a host and a port'],
  ['redis://', 'must be a host name or an IP address'],
])('%s is refused: it %s', (text, reason) => {
  expect(() => parseWatchTarget(text, 'target')).toThrow(reason)
})

test.each(['exam\u200bple.com', 'https://exam\u200bple.com/', ' \u200bexample.com', 'example\u200b.com/path'])(
  '%j is refused, and the invisible character is named',
  (text) => {
    expect(() => parseWatchTarget(text, 'target')).toThrow(
      'must not contain the invisible character U+200B ZERO WIDTH SPACE',
    )
  },
)

test.each(['', '   ', 'two words', 'https://', 'http://[::1'])('%j is refused, with the path of its field', (text) => {
  const error = expect.objectContaining({ issues: [expect.objectContaining({ path: ['target'] })] })
  expect(() => parseWatchTarget(text, 'target')).toThrow(Invalid)
  expect(() => parseWatchTarget(text, 'target')).toThrow(error)
})
