import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { addressFamily } from '../../src/core/ip-address.ts'

/** A certificate with its key, both PEM. */
export interface Certified {
  readonly cert: string
  readonly key: string
}

/** An authority that signs certificates for tests. */
export interface Authority {
  /** Its own certificate, in PEM. */
  readonly ca: string
  /**
   * Creates one whose certificate this one signs, by default like those that it issues. Its certificates are followed
   * by its own, as servers send them. @param key its key; absent: a new one.
   */
  intermediate(name: string, more?: { readonly from?: Date; readonly to?: Date; readonly key?: KeyPair }): Authority
  /** Signs one for these names and addresses, by default from yesterday for 90 days, with an elliptic-curve key. */
  issue(
    hosts: readonly string[],
    more?: { readonly from?: Date; readonly to?: Date; readonly hasRsaKey?: boolean },
  ): Certified
}

const DAY = 86_400_000

interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

/** Creates a key for certificates. */
export const certificateKey = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** Creates an authority with only `node:crypto` and a little DER (X.690). */
export function createAuthority(): Authority {
  const pair = certificateKey()
  return authorityWith(`Test authority ${randomBytes(4).toString('hex')}`, pair)
}

const authorityExtension = () => extension('551d13', sequence(boolean(true)))

/** @param own its certificate, which another authority issued; absent: it is self-signed. */
function authorityWith(name: string, pair: KeyPair, own?: string): Authority {
  const issued = (
    subject: string,
    key: KeyObject,
    signer: string,
    extensions: readonly Buffer[],
    from: Date,
    to: Date,
  ) => pem('CERTIFICATE', signed(pair.privateKey, body(subject, key, signer, extensions, from, to)))
  const lasts = { from: new Date(Date.now() - DAY), to: new Date(Date.now() + 90 * DAY) }
  return {
    ca: own ?? issued(name, pair.publicKey, name, [authorityExtension()], lasts.from, lasts.to),
    intermediate(subject, { from = lasts.from, to = lasts.to, key = certificateKey() } = {}) {
      return authorityWith(subject, key, issued(subject, key.publicKey, name, [authorityExtension()], from, to))
    },
    issue(hosts, { from = lasts.from, to = lasts.to, hasRsaKey = false } = {}) {
      const { publicKey, privateKey } = hasRsaKey
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const names = extension('551d11', sequence(...hosts.map(generalName)))
      const cert = issued(hosts[0] ?? '', publicKey, name, [names], from, to)
      return { cert: `${cert}${own ?? ''}`, key: privatePem(privateKey) }
    },
  }
}

/** A self-signed certificate. */
export function selfSigned(host: string): Certified {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const names = extension('551d11', sequence(generalName(host)))
  const lasts = [new Date(Date.now() - DAY), new Date(Date.now() + 90 * DAY)] as const
  const cert = pem('CERTIFICATE', signed(privateKey, body(host, publicKey, host, [names], ...lasts)))
  return { cert, key: privatePem(privateKey) }
}

/** The signed part (RFC 5280 §4.1). */
function body(subject: string, key: KeyObject, issuer: string, extensions: readonly Buffer[], from: Date, to: Date) {
  const version = der(0xa0, der(0x02, Buffer.from([2])))
  const serial = der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)]))
  const spki = key.export({ type: 'spki', format: 'der' })
  const validity = sequence(time(from), time(to))
  return sequence(
    version,
    serial,
    ecdsa,
    commonName(issuer),
    validity,
    commonName(subject),
    spki,
    der(0xa3, sequence(...extensions)),
  )
}

function signed(key: KeyObject, content: Buffer): Buffer {
  return sequence(content, ecdsa, der(0x03, Buffer.from([0]), sign('sha256', content, key)))
}

/** An element (X.690 §8.1), of at most 16 MB. */
export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const octets = length < 0x80 ? [length] : [0x83, length >> 16, (length >> 8) & 0xff, length & 0xff]
  // Three octets only where two do not suffice: DER has one encoding of a length.
  if (octets[1] === 0) octets.splice(0, 2, 0x82)
  if (octets[0] === 0x82 && octets[1] === 0) octets.splice(0, 2, 0x81)
  return Buffer.concat([Buffer.from([tag, ...octets]), content])
}

export const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts)
export const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const boolean = (value: boolean) => der(0x01, Buffer.from([value ? 0xff : 0]))
export const ecdsa = sequence(objectId('2a8648ce3d040302'))

export function commonName(text: string): Buffer {
  return sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(text)))))
}

export function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), der(0x04, value))
}

/** UTCTime: valid until 2049. */
export function time(at: Date): Buffer {
  return der(0x17, Buffer.from(`${at.toISOString().replace(/\D/g, '').slice(2, 14)}Z`))
}

function generalName(host: string): Buffer {
  if (!/^[\d.]+$|:/.test(host)) return der(0x82, Buffer.from(host))
  if (addressFamily(host) === 6) throw new RangeError('Only IPv4 addresses are put into test certificates')
  return der(0x87, Buffer.from(host.split('.').map(Number)))
}

export function privatePem(key: KeyObject): string {
  return String(key.export({ type: 'pkcs8', format: 'pem' }))
}

export function pem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
