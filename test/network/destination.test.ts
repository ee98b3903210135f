import { expect, test } from 'vitest'
import { thirdParty } from '../../src/network/destination.ts'

test.each([
  ['www.acme.com', 'acme.com'],
  ['a.b.c.Acme.co.uk.', 'acme.co.uk'],
  ['acme.github.io', 'acme.github.io'],
  ['8.8.8.8', '8.8.8.8'],
  ['[2a00:1450:4001:80b::200e]', thirdParty('2a00:1450:4001:80b:ffff::1')],
  ['127.0.0.1', null],
  ['10.1.2.3', null],
  ['[::1]', null],
  ['nas.local', null],
  ['localhost', null],
])('behind %s is %s', (host, party) => {
  expect(thirdParty(host)).toBe(party)
})
