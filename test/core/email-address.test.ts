import { expect, test } from 'vitest'
import { emailAddress } from '../../src/core/email-address.ts'

test.each([
  ['ada@reader.example', 'ada@reader.example'],
  ["o'brien+news@reader.example", "o'brien+news@reader.example"],
  ["!#$%&'*+/=?^_`{|}~-@reader.example", "!#$%&'*+/=?^_`{|}~-@reader.example"],
  ['a.b.c@a-b.reader.example', 'a.b.c@a-b.reader.example'],
  ['leser@bücher.example', 'leser@xn--bcher-kva.example'],
  ['ada@xn--e1afmkfd.xn--p1ai', 'ada@xn--e1afmkfd.xn--p1ai'],
  ['ada@пример.рф', 'ada@xn--e1afmkfd.xn--p1ai'],
  ['ada@例え。テスト', 'ada@xn--r8jz45g.xn--zckzah'],
  [`${'a'.repeat(64)}@reader.example`, `${'a'.repeat(64)}@reader.example`],
])('%s is an address', (text, expected) => {
  expect(emailAddress.parse(text)).toBe(expected)
})

test.each([
  'ada',
  '@reader.example',
  'ada@',
  'ada@reader',
  'ada@localhost',
  'ada@192.0.2.1',
  'ada@１２７.０.０.１',
  'ada@[192.0.2.1]',
  'ada@reader..example',
  'ada@-reader.example',
  'ada@reader_.example',
  '.ada@reader.example',
  'ada.@reader.example',
  'a..da@reader.example',
  'a da@reader.example',
  '"a da"@reader.example',
  'ada@reader.example\r\nBcc: all@victim.example',
  'ada@reader.example, eve@evil.example',
  'ada <ada@reader.example>',
  'ädä@reader.example',
  'ada@exa%6dple.example',
  'ada@bü cher.example',
  `${'a'.repeat(65)}@reader.example`,
  `ada@${'a'.repeat(64)}.example`,
  `ada@${'ü.'.repeat(120)}example`,
  `ada@${'a.'.repeat(130)}example`,
])('%j is none', (text) => {
  expect(emailAddress.safeParse(text).success).toBe(false)
})
