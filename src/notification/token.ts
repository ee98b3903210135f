import { randomBytes } from 'node:crypto'
import { hashSecret } from '../account/secret.ts'
import type { Subscriber } from '../generated/prisma/client.ts'
import { randomText } from '../id.ts'
import type { Seal } from '../seal.ts'

/** 160 random bits. */
const TOKEN_LENGTH = 32
const TOKEN = /^[0-9a-v]{32}$/

/** What webhook secrets begin with (Standard Webhooks, "Signature scheme"). */
const SECRET_PREFIX = 'whsec_'

/** Whether a text may be a subscriber's token; no other may reach the database. */
export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

/** The columns of a new token: who knows it can confirm, change and end the subscription. */
export function tokenFields(seal: Seal, id: string): Pick<Subscriber, 'tokenHash' | 'token'> {
  const token = randomText(TOKEN_LENGTH)
  return { tokenHash: hashSecret(token), token: seal.seal(token, `${id} token`) }
}

/** A subscriber's token, to be put into its own messages. */
export function tokenOf(seal: Seal, { id, token }: Pick<Subscriber, 'id' | 'token'>): string {
  return seal.open(token, `${id} token`)
}

/** A new secret to sign webhooks with, sealed: 24 random bytes, the least that Standard Webhooks allows. */
export function newSecret(seal: Seal, id: string): string {
  return seal.seal(SECRET_PREFIX + randomBytes(24).toString('base64'), `${id} secret`)
}

/** What webhooks of a subscriber are signed with, the newest first: `whsec_` and base64. */
export function secretsOf(seal: Seal, subscriber: SecretFields, now: Date): readonly string[] {
  const { id, secret, formerSecret, formerSecretUntil } = subscriber
  const former = formerSecretUntil !== null && now < formerSecretUntil ? formerSecret : null
  return [secret, former].flatMap((sealed) => (sealed === null ? [] : [seal.open(sealed, `${id} secret`)]))
}

type SecretFields = Pick<Subscriber, 'id' | 'secret' | 'formerSecret' | 'formerSecretUntil'>

/** An address as it is stored: sealed unless it is a mail address, for who knows another one can write there. */
export function sealAddress(seal: Seal, { id, channel }: Pick<Subscriber, 'id' | 'channel'>, address: string): string {
  return channel === 'EMAIL' ? address : seal.seal(address, `${id} address`)
}

/** The address of a subscriber. */
export function addressOf(
  seal: Seal,
  { id, channel, address }: Pick<Subscriber, 'id' | 'channel' | 'address'>,
): string {
  return channel === 'EMAIL' ? address : seal.open(address, `${id} address`)
}
