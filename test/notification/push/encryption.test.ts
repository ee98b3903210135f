import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { areBrowserKeys, encryptFor } from '../../../src/notification/push/encryption.ts'
import { contactOf } from '../../../src/notification/push/vapid.ts'
import { decryptAsBrowser } from '../../support/push-service.ts'

const bytes = (text: string) => Buffer.from(text, 'base64url')

// RFC 8291, appendix A.
const example = {
  keys: {
    p256dh: bytes('BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'),
    auth: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
  },
  privateKey: bytes('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'),
  ephemeral: {
    salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
    privateKey: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
  },
  text: 'When I grow up, I want to be a watermelon',
  body: 'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
}

test('reproduces the example of RFC 8291 byte by byte', () => {
  const { keys, text, ephemeral, body } = example
  expect(encryptFor(keys, Buffer.from(text), ephemeral).toString('base64url')).toBe(body)
})

test('a browser decrypts its messages, and equal texts are encrypted differently', () => {
  const { keys, privateKey } = example
  const texts = ['', 'Down.', 'ü'.repeat(900)]
  for (const text of texts) {
    const body = encryptFor(keys, Buffer.from(text))
    expect(decryptAsBrowser({ privateKey, auth: keys.auth }, body)).toBe(text)
    expect(encryptFor(keys, Buffer.from(text)).equals(body)).toBe(false)
  }
})

test('keys are a point on the curve and 16 bytes', () => {
  const { keys } = example
  expect(areBrowserKeys(keys)).toBe(true)
  expect(areBrowserKeys({ ...keys, auth: randomBytes(15) })).toBe(false)
  expect(areBrowserKeys({ ...keys, p256dh: Buffer.concat([Buffer.from([4]), randomBytes(64)]) })).toBe(false)
  expect(areBrowserKeys({ ...keys, p256dh: Buffer.alloc(65) })).toBe(false)
})

test('push services get a URL at which they can reach the operator', () => {
  expect(contactOf({ MAIL_FROM: undefined }, 'https://a.example')).toBe('https://a.example')
  expect(contactOf({ MAIL_FROM: 'Status <status@a.example>' }, 'http://localhost')).toBe('mailto:status@a.example')
  expect(contactOf({ MAIL_FROM: undefined }, 'http://localhost')).toMatch(/^mailto:.+@.+\./)
})
