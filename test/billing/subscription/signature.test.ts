import { createHmac } from 'node:crypto'
import Stripe from 'stripe'
import { describe, expect, test } from 'vitest'
import { isSignedByBtcpay, isSignedByStripe } from '../../../src/billing/subscription/signature.ts'
import { createStripeVerifier } from '../../../src/billing/subscription/stripe-verifier.ts'
import { noon } from '../../support/context.ts'
import { silent } from '../../support/scratch.ts'
import { checkout } from '../events.ts'

const secret = 'whsec_of-the-tests'
const now = noon.getTime() / 1000
const body = JSON.stringify(checkout({ reference: 'org_ä€😀' }))
const hex = (text: string, key = secret) => createHmac('sha256', key).update(text).digest('hex')
const signed = (payload = body, timestamp = now, key = secret) =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret: key, timestamp })
const v1 = hex(`${now}.${body}`)

const { verify: byLibrary } = createStripeVerifier(silent)
const { verify: byOurselves } = createStripeVerifier(silent, () => Promise.reject(new Error('Package not found.')))

interface Case {
  readonly what: string
  readonly taken: boolean
  readonly header: string | undefined
  readonly body?: string
  readonly secret?: string
}

const corpus: Case[] = [
  { what: 'good', taken: true, header: signed() },
  { what: 'five minutes old', taken: true, header: signed(body, now - 300) },
  { what: 'replayed after five minutes and a second', taken: false, header: signed(body, now - 301) },
  { what: 'from the future', taken: true, header: signed(body, now + 3600) },
  { what: 'signed with another secret', taken: false, header: signed(body, now, 'whsec_another') },
  {
    what: 'signed with two secrets, ours last',
    taken: true,
    header: `t=${now},v1=${hex(`${now}.${body}`, 'old')},v1=${v1}`,
  },
  {
    what: 'signed with two secrets, ours first',
    taken: true,
    header: `t=${now},v1=${v1},v1=${hex(`${now}.${body}`, 'old')}`,
  },
  { what: 'signed with other schemes too', taken: true, header: `t=${now},v0=${hex('x')},v1=${v1},v2=abc` },
  { what: 'signed with another scheme only', taken: false, header: `t=${now},v0=${v1}` },
  { what: 'tampered with', taken: false, header: signed(), body: body.replace('2900', '9900') },
  { what: 'with a changed time', taken: false, header: `t=${now - 1},v1=${v1}` },
  { what: 'truncated', taken: false, header: signed(), body: body.slice(0, -1) },
  { what: 'with a line break after it', taken: false, header: signed(), body: `${body}\n` },
  { what: 'reserialized', taken: false, header: signed(), body: JSON.stringify(JSON.parse(body), null, 2) },
  { what: 'with escaped characters', taken: false, header: signed(), body: body.replace('ä', '\\u00e4') },
  { what: 'with a byte order mark', taken: false, header: signed(), body: `\ufeff${body}` },
  { what: 'signed with a byte order mark', taken: true, header: signed(`\ufeff${body}`), body: `\ufeff${body}` },
  { what: 'large', taken: true, header: signed('x'.repeat(250_000)), body: 'x'.repeat(250_000) },
  { what: 'empty', taken: false, header: signed(''), body: '' },
  { what: 'without a header', taken: false, header: undefined },
  { what: 'with an empty header', taken: false, header: '' },
  { what: 'without a time', taken: false, header: `v1=${v1}` },
  { what: 'without a signature', taken: false, header: `t=${now}` },
  { what: 'with an empty signature', taken: false, header: `t=${now},v1=` },
  { what: 'with an additional empty signature', taken: false, header: `t=${now},v1=,v1=${v1}` },
  { what: 'with an additional signature without a value', taken: false, header: `t=${now},v1,v1=${v1}` },
  { what: 'with half a signature', taken: false, header: `t=${now},v1=${v1.slice(0, 32)}` },
  { what: 'with a signature in capitals', taken: false, header: `t=${now},v1=${v1.toUpperCase()}` },
  { what: 'with an invalid time', taken: false, header: `t=soon,v1=${hex(`NaN.${body}`)}` },
  { what: 'with a time of minus one', taken: false, header: `t=-1,v1=${hex(`-1.${body}`)}` },
  { what: 'with two times, the right one last', taken: true, header: `t=1,t=${now},v1=${v1}` },
  { what: 'with two times, the right one first', taken: false, header: `t=${now},t=1,v1=${v1}` },
  { what: 'with an invalid time before the right one', taken: true, header: `t=x,t=${now},v1=${v1}` },
  { what: 'with letters after the time', taken: true, header: `t=${now}abc,v1=${v1}` },
  { what: 'with a zero before the time', taken: true, header: `t=0${now},v1=${v1}` },
  { what: 'with a space between its parts', taken: false, header: `t=${now}, v1=${v1}` },
  { what: 'with a space before the time', taken: true, header: `t= ${now},v1=${v1}` },
  { what: 'with its parts in reverse order', taken: true, header: `v1=${v1},t=${now}` },
  { what: 'with text after the signature', taken: true, header: `t=${now},v1=${v1}=x` },
  { what: 'with capitals', taken: false, header: `T=${now},V1=${v1}` },
  { what: 'with semicolons', taken: false, header: `t=${now};v1=${v1}` },
  { what: 'with a part that is not ASCII', taken: false, header: `t=${now},v1=${v1},x=é` },
  { what: 'with a signature that is not ASCII', taken: false, header: `t=${now},v1=${'é'.repeat(64)},v1=${v1}` },
  { what: 'signed with a blank secret', taken: false, header: signed(body, now, ' '), secret: ' ' },
]

describe('a webhook request', () => {
  test.each(corpus)('$what is accepted: $taken', async (given) => {
    const delivery = { body: given.body ?? body, header: given.header }
    const key = given.secret ?? secret
    expect(isSignedByStripe(delivery, key, noon)).toBe(given.taken)
    expect(await byLibrary(delivery, key, noon)).toBe(given.taken)
    expect(await byOurselves(delivery, key, noon)).toBe(given.taken)
  })

  test('with a changed signature is rejected by both', async () => {
    for (let place = 0; place < v1.length; place++) {
      const other = v1[place] === '0' ? '1' : '0'
      const delivery = { body, header: `t=${now},v1=${v1.slice(0, place)}${other}${v1.slice(place + 1)}` }
      expect([await byLibrary(delivery, secret, noon), await byOurselves(delivery, secret, noon)]).toEqual([
        false,
        false,
      ])
    }
  })
})

test('a library that does not load is tried and logged once', async () => {
  const warnings: unknown[] = []
  const log = { warn: (...args: unknown[]) => warnings.push(args) }
  let asked = 0
  const load = () => {
    asked += 1
    return Promise.reject(new Error('Package not found.'))
  }
  // The verifier uses it only as a logger.
  const { verify, preload: prepare } = createStripeVerifier(log as never, load)
  await prepare()
  expect([asked, warnings.length]).toEqual([1, 1])
  expect(await verify({ body, header: signed() }, secret, noon)).toBe(true)
  expect(await verify({ body, header: 'x' }, secret, noon)).toBe(false)
  expect([asked, warnings.length]).toEqual([1, 1])
})

describe('a BTCPay webhook request', () => {
  test.each([
    ['good', `sha256=${hex(body)}`, true],
    ['signed with another secret', `sha256=${hex(body, 'x')}`, false],
    ['without the algorithm', hex(body), false],
    ['signed with another algorithm', `sha1=${hex(body)}`, false],
    ['in capitals', `SHA256=${hex(body)}`, false],
    ['cut', `sha256=${hex(body).slice(1)}`, false],
    ['empty', '', false],
    ['missing', undefined, false],
  ])('%s', (_, header, taken) => {
    expect(isSignedByBtcpay({ body, header }, secret)).toBe(taken)
  })
})
