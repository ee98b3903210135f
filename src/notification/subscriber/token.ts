import { randomBytes } from 'node:crypto'
import { hashSecret } from '../../core/hash-secret.ts'
import { randomText } from '../../core/id.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { Subscriber } from '../../generated/prisma/client.ts'

/** 160 random bits. */
const TOKEN_LENGTH = 32
const TOKEN = /^[0-9a-v]{32}$/

/** The prefix of webhook secrets (Standard Webhooks, "Signature scheme"). */
const SECRET_PREFIX = 'whsec_'

/** Returns whether a text has the form of a token. Other texts are not looked up. */
export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

/** Creates a token, whose holder can confirm, change and end the subscription. Returns its columns. */
export function tokenFields(seal: SecretBox, id: string): Pick<Subscriber, 'tokenHash' | 'token'> {
  const token = randomText(TOKEN_LENGTH)
  return { tokenHash: hashSecret(token), token: seal.seal(token, `${id} token`) }
}

/** Returns the token of a subscriber, for the links of its messages. */
export function tokenOf(seal: SecretBox, { id, token }: Pick<Subscriber, 'id' | 'token'>): string {
  return seal.open(token, `${id} token`)
}

/** Creates a sealed signing secret: 24 random bytes, the minimum of Standard Webhooks. */
export function newSecret(seal: SecretBox, id: string): string {
  return seal.seal(SECRET_PREFIX + randomBytes(24).toString('base64'), `${id} secret`)
}

/** Returns the signing secrets of a subscriber, newest first: `whsec_` and base64. */
export function secretsOf(seal: SecretBox, subscriber: SecretFields, now: Date): readonly string[] {
  const { id, secret, formerSecret, formerSecretUntil } = subscriber
  const former = formerSecretUntil !== null && now < formerSecretUntil ? formerSecret : null
  return [secret, former].flatMap((sealed) => (sealed === null ? [] : [seal.open(sealed, `${id} secret`)]))
}

type SecretFields = Pick<Subscriber, 'id' | 'secret' | 'formerSecret' | 'formerSecretUntil'>
