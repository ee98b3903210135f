import { describe, expect, test } from 'vitest'
import { originOf } from '../../../src/account/page/embedding.ts'

describe('the origin of a site that embeds a status line', () => {
  test.each([
    ['https://www.example.com', 'https://www.example.com'],
    ['  HTTPS://WWW.Example.com/  ', 'https://www.example.com'],
    ['https://www.example.com:443', 'https://www.example.com'],
    ['https://www.example.com:8443', 'https://www.example.com:8443'],
    ['http://intranet', 'http://intranet'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://192.0.2.1', 'http://192.0.2.1'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('%s is %s', (text, origin) => {
    expect(originOf(text)).toBe(origin)
  })

  test.each([
    '',
    '*',
    "'self'",
    'https:',
    'https://*',
    'https://*.example.com',
    'www.example.com',
    '//www.example.com',
    'https://www.example.com/shop',
    'https://www.example.com?a',
    'https://www.example.com#a',
    'https://user@www.example.com',
    'https://a.example; script-src *',
    'https://a.example;script-src',
    'https://a.example,https://b.example',
    'https://a.example https://b.example',
    'https://a.example\nx-header: 1',
    'https://[2001:db8::1]',
    'https://a_b.example',
    'https://-.example.',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc',
    `https://${'a'.repeat(300)}.example`,
  ])('%j has none', (text) => {
    expect(originOf(text)).toBeNull()
  })
})
