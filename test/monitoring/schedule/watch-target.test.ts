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
  ['[2001:db8::1]:22', '[2001:db8::1]:22', { tcp: { host: '2001:db8::1', port: 22 } }],
])('%s becomes the monitor %s', (text, name, options) => {
  expect(parseWatchTarget(text, 'target')).toEqual({ name, options })
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
