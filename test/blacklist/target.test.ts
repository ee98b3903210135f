import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isCheckable, parseTarget, type Target } from '../../src/blacklist/target.ts'
import { Invalid } from '../../src/core/errors.ts'

function refusal(input: unknown, expected?: Target['kind']): Invalid {
  try {
    parseTarget(input, expected)
  } catch (error) {
    if (error instanceof Invalid) return error
    throw error
  }
  throw new Error(`${JSON.stringify(input)} was accepted`)
}

describe('addresses', () => {
  test.each([
    ['8.8.8.8', '8.8.8.8', 4],
    [' \t192.0.2.7\r\n', '192.0.2.7', 4],
    ['::ffff:8.8.8.8', '8.8.8.8', 4],
    ['::FFFF:808:808', '8.8.8.8', 4],
    ['2A00:1450:0:0:0:0:0:1', '2a00:1450::1', 6],
    ['198.51.100.1', '198.51.100.1', 4],
    ['203.0.113.1', '203.0.113.1', 4],
    ['2001:db8::1', '2001:db8::1', 6],
    ['3fff::1', '3fff::1', 6],
    ['127.0.0.2', '127.0.0.2', 4],
    ['::ffff:127.0.0.2', '127.0.0.2', 4],
    ['::ffff:7f00:2', '127.0.0.2', 4],
  ])('%j is parsed as %s', (text, address, family) => {
    expect(parseTarget(text)).toEqual({ kind: 'ip', address, family })
    expect(parseTarget(text, 'ip')).toEqual({ kind: 'ip', address, family })
  })

  test.each([
    ['10.1.2.3', '10.1.2.3 is not a public address (private)'],
    ['::ffff:192.168.0.1', '192.168.0.1 is not a public address (private)'],
    ['127.0.0.1', '(loopback)'],
    ['127.0.0.3', '(loopback)'],
    ['::1', '(loopback)'],
    ['169.254.169.254', '(link-local)'],
    ['fe80::1', '(link-local)'],
    ['100.64.0.1', '(carrier-grade NAT)'],
    ['fd00::1', '(unique local)'],
    ['224.0.0.1', '(multicast)'],
    ['ff02::1', '(multicast)'],
    ['0.0.0.0', '(unspecified)'],
    ['::', '(unspecified)'],
    ['240.0.0.1', '(reserved)'],
    ['255.255.255.255', '(reserved)'],
    ['64:ff9b::808:808', '(reserved)'],
    ['2002:808:808::1', '(reserved)'],
    ['::127.0.0.2', '(reserved)'],
  ])('%s is rejected: %s', (text, reason) => {
    expect(refusal(text)).toMatchObject({ code: 'TARGET_NOT_PUBLIC', message: expect.stringContaining(reason) })
  })

  test.each([
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '0177.0.0.1',
    '127.1',
    '1.2.3',
    '256.1.1.1',
    '08.8.8.8',
    '8.8.8.8.',
    '1.2.3.4.5',
    '１２７．０．０．１',
    '8。8。8。8',
    '８８．１',
  ])('%s is rejected as an unsupported notation of an address', (text) => {
    expect(refusal(text)).toMatchObject({ code: 'INVALID_TARGET', message: expect.stringContaining('four decimal') })
  })
})

describe('domains', () => {
  test.each([
    ['example.com', 'example.com', ['example.com']],
    [' WWW.Example.COM. ', 'www.example.com', ['example.com']],
    ['a.b.example.co.uk', 'a.b.example.co.uk', ['example.co.uk']],
    ['a.b.blogspot.com', 'a.b.blogspot.com', ['blogspot.com', 'b.blogspot.com']],
    ['github.io', 'github.io', ['github.io']],
    ['_dmarc.exa_mple.com', '_dmarc.exa_mple.com', ['exa_mple.com']],
    ['a--b.1a.example', 'a--b.1a.example', ['1a.example']],
    ['bücher.example', 'xn--bcher-kva.example', ['xn--bcher-kva.example']],
    ['BU\u0308CHER.example', 'xn--bcher-kva.example', ['xn--bcher-kva.example']],
    ['faß.de', 'xn--fa-hia.de', ['xn--fa-hia.de']],
    ['日本語。jp。', 'xn--wgv71a119e.jp', ['xn--wgv71a119e.jp']],
    ['XN--WGV71A119E.jp', 'xn--wgv71a119e.jp', ['xn--wgv71a119e.jp']],
    ['例.公司.cn', 'xn--fsq.xn--55qx5d.cn', ['xn--fsq.xn--55qx5d.cn']],
  ])('%j is parsed as %s', (text, name, registrable) => {
    expect(parseTarget(text)).toEqual({ kind: 'domain', name, registrable })
    expect(parseTarget(text, 'domain')).toEqual({ kind: 'domain', name, registrable })
  })

  test('a name has at most 253 characters and a label at most 63', () => {
    const name = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.com`
    expect(name).toHaveLength(253)
    expect(parseTarget(`${name}.`)).toMatchObject({ name })
    expect(refusal(`${'a'.repeat(64)}.com`).message).toContain('at most 63')
    expect(refusal(name.replace('d', 'dd')).message).toContain('at most 253')
    expect(refusal(`${'ü'.repeat(63)}.de`).message).toContain('at most 63')
  })

  test.each([
    ['a..example.com', 'no empty labels'],
    ['.example.com', 'no empty labels'],
    ['example.com..', 'no empty labels'],
    ['.', 'no empty labels'],
    ['\u00ad.com', 'Remove the invisible character U+00AD SOFT HYPHEN.'],
    ['exam\u200bple.com', 'Remove the invisible character U+200B ZERO WIDTH SPACE.'],
    ['\u200bexample.com', 'U+200B ZERO WIDTH SPACE'],
    ['example.com\u200b', 'U+200B ZERO WIDTH SPACE'],
    ['exa\u2060mple.com', 'U+2060 WORD JOINER'],
    ['exa\ufe0fmple.com', 'U+FE0F VARIATION SELECTOR-16'],
    ['exa\u{e0100}mple.com', 'U+E0100.'],
    ['example\u00a0.com', 'U+00A0 NO-BREAK SPACE'],
    ['example.\u202ecom', 'U+202E RIGHT-TO-LEFT OVERRIDE'],
    ['exa\u3164mple.com', 'U+3164 HANGUL FILLER'],
    ['https://exam\u200bple.com/', 'U+200B ZERO WIDTH SPACE'],
    ['192.0.2.7\u200b', 'U+200B ZERO WIDTH SPACE'],
    ['2001:db8::7\u200b', 'U+200B ZERO WIDTH SPACE'],
    ['a\u200d.com', 'U+200D ZERO WIDTH JOINER'],
    ['-a.example.com', 'hyphen'],
    ['a-.example.com', 'hyphen'],
    ['localhost', 'at least two labels'],
    ['com.', 'at least two labels'],
    ['co.uk', 'public suffix'],
    ['公司.cn', 'public suffix'],
    ['example.123', 'does not end in a number'],
    ['example.0x1f.', 'does not end in a number'],
    ['xn--zzzz.com', 'not a valid internationalized'],
    ['a\u200d.com', 'not a valid internationalized'],
    ['example.１２', 'not a valid internationalized'],
    ['a／b.com', 'not a valid internationalized'],
    ['\ud800.com', 'not a valid internationalized'],
    ['ex%41mple.com', 'only letters'],
    ["example.com'--", 'only letters'],
    ['"example.com"', 'only letters'],
    ['a\u0000b.com', 'only letters'],
    ['a\u0000b.com', 'U+0000 NULL'],
    ['javascript:alert(1)', 'only letters'],
    ['*.example.com', 'Send example.com instead'],
    ['a*b.example.com', 'Wildcards'],
  ])('%j is rejected: %s', (text, hint) => {
    expect(refusal(text)).toMatchObject({ code: 'INVALID_TARGET', message: expect.stringContaining(hint) })
  })
})

describe('names of special use', () => {
  test.each([
    ['a.localhost', 'RFC 6761'],
    ['www.test', 'RFC 6761'],
    ['www.INVALID.', 'RFC 6761'],
    ['printer.local', 'RFC 6762'],
    ['a.b.onion', 'RFC 7686'],
    ['home.arpa', 'RFC 8375'],
    ['nas.home.arpa', 'RFC 8375'],
    ['a.alt', 'RFC 9476'],
    ['ipv4only.arpa', 'RFC 8880'],
    ['1.0.0.10.in-addr.arpa', 'reverse name'],
    ['168.192.in-addr.arpa', 'reverse name'],
    ['d.f.ip6.arpa', 'reverse name'],
  ])('%s is refused with the reason', (text, reason) => {
    expect(refusal(text)).toMatchObject({ code: 'TARGET_NOT_PUBLIC', message: expect.stringContaining(reason) })
    expect(refusal(`http://${text}/`).message).not.toContain('instead')
  })

  test.each([
    'www.example',
    'example.org',
    'a.example.net',
    'nottest.com',
    'test.com',
    'local.de',
    '8.8.8.8.in-addr.arpa',
  ])('%s is accepted', (text) => expect(parseTarget(text)).toMatchObject({ name: text }))
})

describe('other input', () => {
  test.each([undefined, null, '', ' \t\n', 7, true, {}, ['example.com']])('%j is a missing target', (input) => {
    expect(refusal(input).code).toBe('MISSING_TARGET')
  })

  test.each([
    ['https://user:pw@Example.com:8080/path?q#f', 'URL', 'Send example.com instead'],
    ['//example.com', 'URL', 'Send example.com instead'],
    ['example.com/path', 'URL', 'Send example.com instead'],
    ['http://bücher.example', 'URL', 'Send xn--bcher-kva.example instead'],
    ['http://[2001:db8::1]:80/', 'URL', 'Send 2001:db8::1 instead'],
    ['user@example.com', 'email', 'Send example.com instead'],
    ['mailto:user@example.com', 'email', 'Send example.com instead'],
    ['example.com:443', 'port', 'Send example.com instead'],
    ['192.0.2.7:80', 'port', 'Send 192.0.2.7 instead'],
    ['[2001:DB8::1]', 'brackets', 'Send 2001:db8::1 instead'],
    ['[2001:db8::1]:80', 'brackets', 'Send 2001:db8::1 instead'],
    ['2001:db8::1%eth0', 'zone', 'Send 2001:db8::1 instead'],
  ])('%s is rejected with a suggestion', (text, mistake, instead) => {
    const { code, message } = refusal(text)
    expect(code).toBe('INVALID_TARGET')
    expect(message).toContain(mistake)
    expect(message).toContain(instead)
  })

  test.each([
    ['http://[::1]/', 'URL'],
    ['http://localhost/', 'URL'],
    ['http:///', 'URL'],
    ['root@localhost', 'email'],
    ['[::1]:80', 'brackets'],
    ['[[[', 'brackets'],
    ['fe80::1%eth0', 'zone'],
    ['localhost:80', 'port'],
    ['192.0.2.0/24', 'range'],
    ['2001:db8::/32', 'range'],
    ['a.com, b.com', 'one target'],
    ['a.com\u2028b.com', 'one target'],
    ['a.com\u2028b.com', 'U+2028 LINE SEPARATOR'],
    ['1::2::3', 'not a valid IPv6'],
  ])('%j is rejected without an invalid suggestion', (text, mistake) => {
    const { code, message } = refusal(text)
    expect(code).toBe('INVALID_TARGET')
    expect(message).toContain(mistake)
    expect(message).not.toContain('instead')
  })

  test('an address sent to the domain check, and a domain sent to the IP check, get a hint', () => {
    expect(refusal('192.0.2.7', 'domain').message).toBe('This is an IP address. Use the IP check.')
    expect(refusal('10.0.0.1', 'domain').code).toBe('INVALID_TARGET')
    expect(refusal('example.com', 'ip').message).toBe('This is a domain name. Use the domain check.')
    expect(refusal('localhost', 'ip').message).toContain('This is not an IP address')
    expect(refusal('http://example.com/', 'ip').message).not.toContain('instead')
  })

  test('overlong input is rejected, and long names are not repeated', () => {
    expect(refusal('a'.repeat(1025)).message).toBe('This is too long to be an IP address or a domain name.')
    expect(refusal(`http://${'a'.repeat(1_000_000)}`).message).toContain('too long')
    const name = `${'a'.repeat(63)}.${'b'.repeat(20)}.com`
    expect(parseTarget(name)).toMatchObject({ name })
    expect(refusal(`http://${name}/`).message).toBe('This is a URL. Send only its host.')
  })
})

test('isCheckable accepts only public and documentation addresses', () => {
  expect(['8.8.8.8', '192.0.2.7', '2001:db8::1', '2600::1'].map(isCheckable)).toEqual([true, true, true, true])
  expect(['127.0.0.2', '10.0.0.1', '::1', '::ffff:8.8.8.8'].map(isCheckable)).toEqual([false, false, false, false])
})

describe('for any text', () => {
  const piece = fc.constantFrom(
    ...['.', '-', '_', ':', '/', '//', '@', '[', ']', '%', '*', '0x', '127', '1', 'com', 'co.uk', 'example', 'xn--'],
    ...[
      'http:',
      '::ffff:',
      '。',
      '．',
      '１',
      'ü',
      'ß',
      '\u00ad',
      '\u200d',
      '\u0000',
      ' ',
      '\ud800',
      '公司',
      'a'.repeat(40),
    ],
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 12 }).map((pieces) => pieces.join('')),
    fc.webUrl(),
    fc.emailAddress(),
    fc.domain(),
  )
  const kind = fc.constantFrom(undefined, 'ip' as const, 'domain' as const)

  test('a target is well-formed and parses as itself, and an Invalid repeats no unsafe character', () => {
    fc.assert(
      fc.property(text, kind, (input, expected) => {
        const target = outcome(input, expected)
        if (target instanceof Invalid) {
          expect(target.message).toMatch(/^[\x20-\x7e]{1,250}$/)
          return
        }
        if (target.kind === 'domain') {
          expect(target.name.length).toBeLessThanOrEqual(253)
          expect(target.name).toMatch(/^[a-z\d_-]{1,63}(\.[a-z\d_-]{1,63})+$/)
          for (const domain of target.registrable) expect(`.${target.name}`.endsWith(`.${domain}`)).toBe(true)
        }
        expect(parseTarget(target.kind === 'ip' ? target.address : target.name)).toEqual(target)
      }),
      { numRuns: 2000 },
    )
  })

  test('only a literal address becomes an address', () => {
    fc.assert(
      fc.property(text, (input) => {
        const target = outcome(input)
        if (!(target instanceof Invalid) && target.kind === 'ip') expect(input.trim()).toMatch(/^[\da-f:.]+$/i)
      }),
      { numRuns: 2000 },
    )
  })

  test('any value that is not a string is a missing target', () => {
    fc.assert(
      fc.property(
        fc.anything().filter((value) => typeof value !== 'string'),
        (input) => {
          expect(refusal(input).code).toBe('MISSING_TARGET')
        },
      ),
    )
  })

  function outcome(input: unknown, expected?: Target['kind']): Target | Invalid {
    try {
      return parseTarget(input, expected)
    } catch (error) {
      if (error instanceof Invalid) return error
      throw error
    }
  }
})
