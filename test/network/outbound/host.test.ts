import { describe, expect, test } from 'vitest'
import { readHost } from '../../../src/network/outbound/host.ts'

const spellings: Readonly<Record<string, string>> = {
  '127.0.0.1': '127.0.0.1',
  '127.0.0.1.': '127.0.0.1',
  '127.1': '127.0.0.1',
  '0x7f.1': '127.0.0.1',
  '0x7f000001': '127.0.0.1',
  '0177.0.0.1': '127.0.0.1',
  '2130706433': '127.0.0.1',
  '①②⑦.0.0.1': '127.0.0.1',
  '127。0。0。1': '127.0.0.1',
  '%31%32%37.0.0.1': '127.0.0.1',
  '::1': '::1',
  '[::1]': '::1',
  '0:0:0:0:0:0:0:1': '::1',
  '::ffff:127.0.0.1': '127.0.0.1',
  '[::ffff:7f00:1]': '127.0.0.1',
  '::ffff:0:127.0.0.1': '::ffff:0:7f00:1',
  '64:ff9b::127.0.0.1': '64:ff9b::7f00:1',
  '0': '0.0.0.0',
}

describe('a host', () => {
  test.each(Object.entries(spellings))('spelled %s is the address %s', (text, address) => {
    expect(readHost(text)).toEqual({ kind: 'address', address })
  })

  test.each([
    ['example.com', 'example.com'],
    ['EXAMPLE.com.', 'example.com'],
    ['faß.example', 'xn--fa-hia.example'],
    ['a_b.example.com', 'a_b.example.com'],
    ['db', 'db'],
  ])('spelled %s is the name %s', (text, name) => {
    expect(readHost(text)).toEqual({ kind: 'name', name })
  })

  test.each(['localhost', 'LOCALHOST.', 'x.localhost', 'loca%6chost'])('spelled %s is this machine', (text) => {
    expect(readHost(text)?.kind).toBe('this machine')
  })

  test.each([
    '',
    '.',
    'a..b',
    'a b',
    'fe80::1%eth0',
    '[fe80::1%25eth0]',
    '[::1',
    '[[::1]]',
    '1.2.3.4.5',
    '256.1.1.1',
    'user@example.com',
    'example.com:80',
    'example.com/path',
    'example.com?x',
    'example.com#x',
    'example.com\\x',
    'a\tb',
    'a%00b',
    'a%2fb',
    `${'a'.repeat(64)}.com`,
  ])('is not %j', (text) => {
    expect(readHost(text)).toBeNull()
  })
})
