import type { KeyObject } from 'node:crypto'
import { createECDH, createPrivateKey, sign } from 'node:crypto'
import type { Config } from '../../core/config.ts'
import type { Context } from '../../core/context.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { HOUR, SECOND } from '../../core/time.ts'

/** The key pair that identifies this installation to push services. */
export interface VapidKeys {
  /** In base64url, for browsers. */
  readonly publicKey: string
  readonly privateKey: KeyObject
}

const ROW = 1
const ABOUT = 'VapidKey privateKey'

/** Returns the key pair of this installation. The first call of any instance creates it. */
export async function vapidKeys({ db, seal }: Pick<Context, 'db'> & { readonly seal: SecretBox }): Promise<VapidKeys> {
  const where = { id: ROW }
  const known = await db.vapidKey.findUnique({ where })
  if (known === null) {
    const pair = createECDH('prime256v1')
    const publicKey = pair.generateKeys().toString('base64url')
    const privateKey = seal.seal(pair.getPrivateKey().toString('base64url'), ABOUT)
    // Another instance may be first.
    await db.vapidKey.createMany({ data: { id: ROW, publicKey, privateKey }, skipDuplicates: true })
  }
  const { publicKey, privateKey } = known ?? (await db.vapidKey.findUniqueOrThrow({ where }))
  return { publicKey, privateKey: keyOf(publicKey, seal.open(privateKey, ABOUT)) }
}

function keyOf(publicKey: string, d: string): KeyObject {
  const point = Buffer.from(publicKey, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d }, format: 'jwk' })
}

/** How long a push service accepts a token; RFC 8292 allows a day. */
const LIFETIME = 12 * HOUR

/**
 * Returns the `Authorization` header for a push service (RFC 8292). @param contact a URL at which the operator can be
 * reached.
 */
export function vapidHeader(
  { publicKey, privateKey }: VapidKeys,
  endpoint: string,
  contact: string,
  now: Date,
): string {
  const exp = Math.floor((now.getTime() + LIFETIME) / SECOND)
  const claims = { aud: new URL(endpoint).origin, exp, sub: contact }
  const text = [{ typ: 'JWT', alg: 'ES256' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `vapid t=${text}.${signature.toString('base64url')}, k=${publicKey}`
}

/** Returns a URL at which push services can reach the operator: our URL if it is public, else our email address. */
export function contactOf({ MAIL_FROM }: Pick<Config, 'MAIL_FROM'>, baseUrl: string): string {
  if (baseUrl.startsWith('https:')) return baseUrl
  const address = /(?<![^\s<>"])[^\s<>"@]+@[^\s<>"]+/.exec(MAIL_FROM ?? '')?.[0] ?? 'operator@localhost.localdomain'
  return `mailto:${address}`
}
